#include "../../data/sources/text_documents.h"
#include "fuzz.h"

using namespace headwave;

FUZZ_SEEDS("[1, 2, 3]", "[[1, 2], [3]]", R"({"ids": [[1], [2]]})", R"([{"source": [1], "target": [2, 3]}])",
           "1 2 3\n4,5\n")

FUZZ(bytes) {
  for (const PackingOptions& options : {PackingOptions{}, PackingOptions{.documents = 1, .length = 2}})
    refused_in_one_line([&] {
      for (const IdPair& pair : listed_ids(bytes, "t", options))
        for (const std::int32_t id : pair.ids)
          if (id < 0) std::abort();
    });
}
