#include <nlohmann/json.hpp>

#include "../../data/files/json_file.h"
#include "fuzz.h"

using namespace headwave;

FUZZ_SEEDS(R"({"a": [1, -2.5e3, true, null], "b": {"c": "\u00fc"}})", "[[[]]]", "\xEF\xBB\xBF{}")

FUZZ(bytes) {
  refused_in_one_line([&] { (void)json_of_text(bytes, "t"); });
}
