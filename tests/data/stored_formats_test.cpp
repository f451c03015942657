#include <algorithm>
#include <fstream>
#include <map>

#include <fmt/format.h>

#include "../../core/errors/error.h"
#include "../../data/arrays/safetensors.h"
#include "../../data/files/replaced_file.h"
#include "../../data/files/zip_archive.h"
#include "../../data/sources/named_arrays.h"
#include "../../data/sources/stored_states.h"
#include "../catch.h"
#include "test_files.h"

using namespace headwave;

// The files come from tests/golden/make_stored_formats.py.
namespace {

constexpr Index made_documents = 2, made_length = 3, width = 4;

Matrix32 expected(Index layer, Index document) {
  Matrix32 states(made_length, width);
  for (Index t = 0; t < made_length; ++t)
    for (Index w = 0; w < width; ++w)
      states(t, w) = static_cast<float>((60 * layer + 30 * document + 4 * t + w) * 7 % 61 - 30) / 8;
  return states;
}

/// The source of a place, with a model that takes any states of that width.
std::unique_ptr<Source> source_of(const std::filesystem::path& path, const StoredStatesOptions& options) {
  static const Matrix32 weight = Matrix32::Zero(width, width);
  Model model;
  model.stack.blocks.resize(4);
  for (Block& block : model.stack.blocks) block.self.query.weight = MatrixView32(weight);
  model.stack.block.heads = 2;
  model.stack.block.causal = true;
  return stored_states(path, std::move(model), options).source;
}

StoredStatesOptions dataset(const std::string& name, const std::string& axes = "") {
  StoredStatesOptions options;
  options.dataset = name;
  if (!axes.empty()) options.axes = array_axes(axes).value();
  return options;
}

void check_states(const Source& source, Index layers = 2) {
  REQUIRE(source.count() == made_documents);
  for (Index d = 0; d < made_documents; ++d) {
    const Document document = source.document(d);
    REQUIRE(document.stored.size() == static_cast<std::size_t>(layers));
    for (const StoredLayer& layer : document.stored) CHECK(layer.states == expected(layer.layer, d));
  }
}

}  // namespace

TEST_CASE("states of every type, byte order and layout are the same states") {
  for (const char* kind : {"f2", "f4", "f8"})
    for (const char* order : {"le", "be"}) {
      INFO(kind << ' ' << order);
      check_states(*source_of(formats("types.h5"), dataset(fmt::format("types/{}_{}", kind, order))));
      for (const char* layout : {"C", "F"})
        check_states(*source_of(formats("types.npz"), dataset(fmt::format("{}_{}_{}", kind, order, layout))));
    }
  check_states(*source_of(formats("types.h5"), dataset("types/bf16")));
  for (const char* kind : {"float16", "bfloat16", "float32", "float64"})
    check_states(*source_of(formats("types.safetensors"), dataset(kind)));
}

TEST_CASE("an archive's arrays are found by the usual names, with ids and tokens beside them") {
  const auto whole = source_of(formats("whole.npz"), {});
  check_states(*whole);
  CHECK(whole->document(1).ids == std::vector<std::int32_t>{8, 9, 10});
  CHECK(whole->document(0).tokens == std::vector<std::string>{"a", "\xc3\xa9", "c"});
  CHECK_THROWS_WITH(source_of(formats("packed.npz"), {}),
                    ContainsSubstring("is compressed or encrypted; expected what numpy.savez writes"));
  const auto by_layer = source_of(formats("by_layer.npz"), dataset("layer_{layer}"));
  check_states(*by_layer);
  CHECK(by_layer->document(1).ids == std::vector<std::int32_t>{5, 6, 7});
}

TEST_CASE("a dataset of others is read by its name and its axes, whatever their order") {
  const auto blocks = source_of(formats("types.h5"), dataset("encoder/block{layer}/out", "token,width,document"));
  REQUIRE(blocks->count() == 2);
  for (Index i = 0; i < 2; ++i)
    for (const StoredLayer& layer : blocks->document(i).stored) CHECK(layer.states == expected(layer.layer - 1, i));
}

TEST_CASE("a dataset for each document gives documents of their own lengths, in the order of their numbers") {
  const auto source = source_of(formats("types.h5"), dataset("probe/{document}"));
  REQUIRE(source->count() == 2);
  CHECK(source->document(0).name == "9");
  CHECK(source->length(0) == 3);
  CHECK(source->document(1).name == "10");
  CHECK(source->length(1) == 2);
  CHECK(source->document(0).stored[1].states == expected(1, 0));
  CHECK(source->document(1).stored[0].states == expected(0, 1).topRows(2));
}

TEST_CASE("what is not found, or has another shape, is told with the nearest names and what was expected") {
  const auto refuse = [](const StoredStatesOptions& search, const std::string& text) {
    CHECK_THROWS_WITH(source_of(formats("types.h5"), search), ContainsSubstring(text));
  };
  refuse(dataset("types/f4_lee"), "found no hidden states 'types/f4_lee'; it holds 'types/f4_le', '");
  refuse(dataset("types/f4_lee"), "' and 8 more");
  refuse(dataset("types/f4_le", "document,token,width"),
         "'types/f4_le' has shape (2, 2, 3, 4), expected (document, token, width)");
  refuse(dataset("marks"), "'marks' has shape (3), expected (documents, T, width) or (T, width)");
  CHECK_THROWS_WITH(open_arrays(formats("whole.npz"))->floats("tokens"),
                    ContainsSubstring("whole.npz: 'tokens': holds string values, expected real numbers"));
  refuse({}, "give dataset=NAME to name the array");
  StoredStatesOptions search = dataset("types/f4_le");
  search.layer = 1;
  refuse(search, "the layer is already given by a name or an axis; omit layer");
}
