#include "../../data/sources/array_map.h"
#include "fuzz.h"

using namespace headwave;

FUZZ_SEEDS(
    "heads = 2\ncausal = true\ntokens = \"words\"\n[states]\nname = \"block{layer}/out\"\naxes = "
    "\"document,token,width\"\n"
    "first_number = 1\nfirst_layer = 1\n",
    "queries = \"q\"\n[keys]\nname = \"k/{document}\"\naxes = \"layer,head,token,width\"\nlayers = [0, 3]\n")

FUZZ(bytes) {
  const InputFile file(bytes);
  refused_in_one_line([&] { (void)read_array_map(file.path()); });
  if (const auto axes = array_axes(bytes); axes && array_axes(axes_text(*axes)) != axes) std::abort();
}
