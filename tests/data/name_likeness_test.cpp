#include "../../data/models/name_likeness.h"

#include <set>

#include "../../data/arrays/safetensors_file.h"
#include "../../data/models/model_directory.h"
#include "../catch.h"
#include "test_files.h"

using namespace headwave;

namespace {

std::vector<std::string> tensors_of(const std::string& golden, const std::string& before = "") {
  std::vector<std::string> names;
  const SafetensorsFile file(family(golden) / "model.safetensors");
  for (const TensorInfo& tensor : file.tensors()) names.push_back(before + tensor.name);
  return names;
}

}  // namespace

TEST_CASE("every family's tensors are called most as that family's are, or as one's that calls them the same") {
  for (const std::string name :
       {"bert-mlm",   "distilbert", "electra", "albert",     "modernbert", "deberta", "deberta-v2",
        "nomic-bert", "gpt2",       "bloom",   "openai-gpt", "gpt-neo",    "gptj",    "gpt-neox",
        "opt",        "phi3",       "gemma2",  "olmo2",      "t5",         "bart"}) {
    CAPTURE(name);
    const std::vector<std::string> tensors = tensors_of(name);
    const NameLikeness found = nearest_by_names(tensors);
    CHECK(found.family == model_map(family(name)).family);
    CHECK(found.shared <= found.own);
    CHECK(2 * found.shared > found.all);
    // A word before all names changes nothing.
    CHECK(nearest_by_names(tensors_of(name, "quantum.")).family == found.family);
  }
}

TEST_CASE("names that no family has are like none") {
  CHECK(nearest_by_names({"spin.up", "spin.down", "spin.0.charm"}).family.empty());
  CHECK(nearest_by_names({}).family.empty());
}
