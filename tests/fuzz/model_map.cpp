#include "../../data/models/families.h"
#include "fuzz.h"

using namespace headwave;

FUZZ_SEEDS(
    "family = \"x\"\nlongest = 16\n[stack]\nlayers = 1\nd_model = 8\nvocabulary = 10\nwords = "
    "\"w\"\n[stack.block]\nheads = 2\n[stack.positions]\nkind = \"sinusoids\"\n",
    "[stack]\nlayers = 1\n[stack.self]\nquery = [\"q\", \"b\"]\n[stack.positions]\nkind = \"rotary\"\nscaling = "
    "\"yarn\"\n")

FUZZ(bytes) {
  const InputFile file(bytes);
  refused_in_one_line([&] {
    const ModelFacts facts{[]() -> const ModelConfig& { throw FormatError("no config.json: none"); },
                           [](const std::string& name) { return name.size() % 2 == 0; }};
    (void)model_map_of(file.path(), facts);
  });
}
