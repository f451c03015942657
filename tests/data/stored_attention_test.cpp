#include <algorithm>
#include <array>
#include <bit>
#include <map>

#include <Eigen/Core>
#include <fmt/format.h>

#include "../../core/errors/error.h"
#include "../../core/model/model_pass.h"
#include "../../data/models/model_directory.h"
#include "../../data/sources/named_arrays.h"
#include "../../data/sources/stored_states.h"
#include "../catch.h"
#include "../npy_file.h"
#include "kept_pass.h"
#include "test_files.h"

using namespace headwave;

// The HDF5 file comes from tests/golden/make_stored_formats.py, attention of transformers from make_families.py.
namespace {

constexpr Index layers = 2, documents = 2, heads = 3, length = 5;

/// Weights that float16 and bfloat16 hold exactly; those of a query lie where its number says.
float weight(Index layer, Index document, Index head, Index query, Index key) {
  const Index first = (layer + 2 * document + head + query) % length;
  return key == first ? 0.75F : key == (first + 1 + layer) % length ? 0.25F : 0.0F;
}

/// All of them, the axes in an order: 0 layer, 1 document, 2 head, 3 query, 4 key.
std::vector<float> weights_by(const std::array<int, 5>& order) {
  const std::array<Index, 5> sizes{layers, documents, heads, length, length};
  std::vector<float> values;
  std::array<Index, 5> at{};
  for (Index n = 0; n < layers * documents * heads * length * length; ++n) {
    Index rest = n;
    for (std::size_t a = 5; a-- > 0;) {
      const auto axis = static_cast<std::size_t>(order[a]);
      at[axis] = rest % sizes[axis];
      rest /= sizes[axis];
    }
    values.push_back(weight(at[0], at[1], at[2], at[3], at[4]));
  }
  return values;
}

StoredStatesOptions dataset_options(const std::string& name, const std::string& axes = "") {
  StoredStatesOptions options;
  options.dataset = name;
  if (!axes.empty()) options.axes = array_axes(axes).value();
  return options;
}

/// The weights that probes see of a document: layer by layer, head by head.
std::map<AttentionKind, std::vector<Matrix32>> seen(const StoredInput& input, Index document) {
  KeptPass kept;
  const std::array<Probe*, 1> probes{&kept};
  model_pass(input.model, input.source->document(document), probes);
  return kept.weights;
}

void check_weights(const StoredInput& input) {
  REQUIRE(input.source->count() == documents);
  CHECK(input.model.stack.block.heads == heads);
  for (Index d = 0; d < documents; ++d) {
    const std::vector<Matrix32> came = seen(input, d).at(AttentionKind::self);
    REQUIRE(came.size() == static_cast<std::size_t>(layers * heads));
    for (Index l = 0; l < layers; ++l)
      for (Index h = 0; h < heads; ++h)
        for (Index i = 0; i < length; ++i)
          for (Index j = 0; j < length; ++j)
            CHECK(came[static_cast<std::size_t>(l * heads + h)](i, j) == weight(l, d, h, i, j));
  }
}

std::vector<float> part_of(const std::vector<float>& values, Index part, Index parts) {
  const auto size = std::ssize(values) / parts;
  return {values.begin() + part * size, values.begin() + (part + 1) * size};
}

constexpr std::array<int, 5> in_order{0, 1, 2, 3, 4};
const std::vector<Index> whole_shape{layers, documents, heads, length, length};

/// An array in memory that remembers what was asked of it.
class AskedArrays : public NamedArrays {
 public:
  explicit AskedArrays(const std::vector<Index>& shape) : NamedArrays("memory") { add("attentions", "float32", shape); }
  [[nodiscard]] std::vector<float> read(const std::string& name, const ArrayBlock& block) const override {
    const std::size_t entries = entries_of(block);
    most = std::max(most, entries);
    all += entries;
    return std::vector<float>(entries, 1.0F / static_cast<float>(shape(name).back()));
  }
  [[nodiscard]] std::vector<std::string> texts(const std::string& /*name*/) const override { return {}; }
  mutable std::size_t most = 0, all = 0;
};

}  // namespace

TEST_CASE("attention that transformers finished is what the model's own pass shows, causal where the model is") {
  for (const auto& [name, kind] : {std::pair{"gpt2", AttentionKind::causal},
                                   {"bert-mlm", AttentionKind::self},
                                   {"llama", AttentionKind::causal},
                                   {"distilbert", AttentionKind::self}}) {
    CAPTURE(name);
    const auto options = dataset_options("{document}.attentions", "layer,head,query,key");
    const auto file = family(name) / "expected.safetensors";
    const StoredInput alone = stored_states(file, options),
                      beside = stored_states(file, open_model(family(name)), options);
    CHECK(alone.model.stack.block.causal == (kind == AttentionKind::causal));
    for (Index d = 0; d < alone.source->count(); ++d) {
      const auto states = dataset_options("{document}.attention_input", "layer,token,width");
      const auto computed = seen(stored_states(file, open_model(family(name)), states), d).at(kind);
      const auto shown = seen(alone, d).at(kind);
      REQUIRE(shown.size() == computed.size());
      CHECK(shown == seen(beside, d).at(kind));
      for (std::size_t h = 0; h < shown.size(); ++h) CHECK((shown[h] - computed[h]).cwiseAbs().maxCoeff() < 1e-5F);
    }
  }
}

TEST_CASE("finished attention of every type, byte order and layout is the same attention, to the bit") {
  const TemporaryFolder folder;
  const std::vector<float> values = weights_by(in_order);
  const auto check = [&](const auto& numbers, const std::string& descr, bool fortran) {
    CAPTURE(descr, fortran);
    write_npy(folder / "a.npy", whole_shape, numbers, descr, fortran);
    check_weights(stored_states(folder / "a.npy"));  // the only array, of five axes
  };
  const auto swapped = [](auto bits) {
    auto bytes = std::bit_cast<std::array<std::byte, sizeof bits>>(bits);
    std::ranges::reverse(bytes);
    return std::bit_cast<decltype(bits)>(bytes);
  };
  for (const bool fortran : {false, true}) {
    const std::vector<float> placed = fortran ? weights_by({4, 3, 2, 1, 0}) : values;
    std::vector<float> big;
    std::vector<double> wide(placed.begin(), placed.end()), wide_big;
    std::vector<std::uint16_t> half, half_big;
    for (const float value : placed) {
      big.push_back(std::bit_cast<float>(swapped(std::bit_cast<std::uint32_t>(value))));
      wide_big.push_back(std::bit_cast<double>(swapped(std::bit_cast<std::uint64_t>(static_cast<double>(value)))));
      half.push_back(std::bit_cast<std::uint16_t>(Eigen::half(value)));
      half_big.push_back(swapped(half.back()));
    }
    check(placed, "<f4", fortran);
    check(big, ">f4", fortran);
    check(wide, "<f8", fortran);
    check(wide_big, ">f8", fortran);
    check(half, "<f2", fortran);
    const Attributes provenance = stored_states(folder / "a.npy").source->provenance();
    CHECK(std::get<std::string>(provenance.at("stored_type")) == "float16");
    CHECK(std::get<std::string>(provenance.at("source")) == "stored attention");
    check(half_big, ">f2", fortran);
  }
}

TEST_CASE("the axes of finished attention come in any order") {
  const TemporaryFolder folder;
  constexpr std::array words{"layer", "document", "head", "query", "key"};
  std::array<int, 5> order = in_order;
  do {
    std::string axes;
    std::vector<Index> shape;
    for (const int axis : order) {
      axes += fmt::format("{}{}", axes.empty() ? "" : ",", words[static_cast<std::size_t>(axis)]);
      shape.push_back(whole_shape[static_cast<std::size_t>(axis)]);
    }
    CAPTURE(axes);
    write_npy(folder / "a.npy", shape, weights_by(order));
    check_weights(stored_states(folder / "a.npy", dataset_options("a", axes)));
  } while (std::ranges::next_permutation(order).found);
}

TEST_CASE("finished attention is found by its usual names, in HDF5 and in a folder by layer") {
  const TemporaryFolder folder;
  const std::vector<float> values = weights_by(in_order);
  const StoredInput tree = stored_states(repository_file("tests/golden/stored/formats/attention.h5"),
                                         dataset_options("attention/layer_{layer}", "document,head,query,key"));
  check_weights(tree);
  CHECK(std::get<std::string>(tree.source->provenance().at("stored_type")) == "bfloat16");

  std::filesystem::create_directory(folder / "layers");
  for (Index l = 0; l < layers; ++l)
    write_npy(folder / fmt::format("layers/attentions_layer_{}.npy", l), {documents, heads, length, length},
              part_of(values, l, layers));
  check_weights(stored_states(folder / "layers"));
}

TEST_CASE("finished attention that does not fit together, or a model that it is not from, is refused") {
  const TemporaryFolder folder;
  const std::vector<float> values = weights_by(in_order);
  const auto refuse = [&](const std::filesystem::path& path, const StoredStatesOptions& options,
                          const std::string& problem) {
    CHECK_THROWS_WITH(stored_states(path, options), ContainsSubstring(problem));
  };
  write_npy(folder / "a.npy", {layers, documents * heads, length, length}, values);
  refuse(folder / "a.npy", dataset_options("a", "head,query,document,key"),
         "6 queries and 5 keys; expected equal numbers");
  std::filesystem::create_directory(folder / "four");
  write_npy(folder / "four/attentions_layer_0.npy", {documents, heads, length, length}, part_of(values, 0, layers));
  write_npy(folder / "four/attentions_layer_1.npy", {documents, heads - 1, length, length},
            std::vector<float>(values.begin(), values.begin() + documents * (heads - 1) * length * length));
  CHECK_THROWS_WITH(seen(stored_states(folder / "four"), 0),
                    ContainsSubstring("attentions_layer_1' document 0: has 2 heads, expected 3"));

  write_npy(folder / "attentions.npy", {documents, heads, length, length}, part_of(values, 0, layers));
  refuse(folder / "attentions.npy", {}, "give axes to say which axes it has");
  StoredStatesOptions layer;
  layer.layer = 3;
  CHECK(stored_states(folder / "attentions.npy", layer).source->document(1).stored.front().layer == 3);
  write_npy(folder / "b.npy", whole_shape, values);
  StoredStatesOptions other;
  other.heads = 4;
  refuse(folder / "b.npy", other, "the stored attention weights have 3 heads, but head_count is");
  const auto with_model = [&](const char* name, const StoredStatesOptions& options, const std::string& problem) {
    CHECK_THROWS_WITH(stored_states(folder / "b.npy", open_model(family(name)), options), ContainsSubstring(problem));
  };
  with_model("bert-mlm", {}, "have 3 heads, but the model has 4; are they from this model?");
  with_model("t5", {}, "is an encoder-decoder: whether this attention is");
  other = {};
  other.apply_norm = true;
  with_model("gpt2", other, "stored attention weights have no states to normalise");
  refuse(folder / "b.npy", other, "applying the model's norm needs a model");
  std::filesystem::resize_file(folder / "b.npy", std::filesystem::file_size(folder / "b.npy") - 4);
  refuse(folder / "b.npy", {}, "b.npy");
}

TEST_CASE("of finished attention no more is read at once than a tile") {
  constexpr Index tokens = 1000;
  const auto arrays = std::make_shared<const AskedArrays>(std::vector<Index>{4, 2, 8, tokens, tokens});
  const StoredInput input = stored_states(ArraysPlace(arrays));
  CHECK(input.source->count() == 1);  // equal documents count once
  arrays->most = arrays->all = 0;
  const Document document = input.source->document(0);
  CHECK(document.length() == tokens);
  CHECK(arrays->all == 0);
  model_pass(input.model, document, {});
  CHECK(arrays->most == 8 * 64 * tokens);
  CHECK(arrays->all == 4 * 8 * tokens * tokens);
}
