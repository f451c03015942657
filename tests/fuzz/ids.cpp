#include "../../data/sources/text_documents.h"
#include "fuzz.h"

using namespace headwave;

FUZZ_SEEDS("[1, 2, 3]", "[[1, 2], [3]]", R"({"ids": [[1], [2]]})", R"([{"source": [1], "target": [2, 3]}])",
           "1 2 3\n4,5\n")

FUZZ(bytes) {
  const TextPlace text("t", std::make_shared<const std::string>(bytes));
  for (const PackingOptions& options : {PackingOptions{}, PackingOptions{.documents = 1, .length = 2}})
    refused_in_one_line([&] {
      const auto source = id_documents(text, nullptr, options);
      for (Index i = 0; i < source->count(); ++i)
        for (const std::int32_t id : source->document(i).ids)
          if (id < 0) std::abort();
    });
}
