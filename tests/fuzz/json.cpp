#include <nlohmann/json.hpp>

#include "../../data/files/json_file.h"
#include "fuzz.h"

using namespace headwave;

FUZZ_SEEDS(R"({"a": [1, -2.5e3, true, null], "b": {"c": "\u00fc"}})", "[[[]]]", "\xEF\xBB\xBF{}")

FUZZ(bytes) {
  refused_in_one_line([&] { (void)json_of_text(bytes, "t"); });
  std::size_t elements = 0;
  const JsonTaker count = [&](const std::string& key, const nlohmann::json& value) {
    elements += key.size() + value.size();
  };
  const JsonOptions apart{.most_values = 100, .takers = {{{}, count}}},
      inner{.takers = {{{"a"}, count}, {{"b", "c"}, count}}};
  refused_in_one_line([&] { (void)json_of_text(bytes, "t", apart); });
  refused_in_one_line([&] { (void)json_of_text(bytes, "t", inner); });
}
