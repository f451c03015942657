#include "../../data/models/model_map_file.h"
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
    const std::string text = model_map_text(model_map_file(file.path()));
    const InputFile again(text);
    if (model_map_text(model_map_file(again.path())).size() > 2 * text.size() + 100) std::abort();
  });
}
