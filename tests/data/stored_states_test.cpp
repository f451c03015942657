#include "../../data/sources/stored_states.h"

#include <cmath>
#include <cstdint>
#include <fstream>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "../../core/errors/error.h"
#include "../../core/model/model_pass.h"
#include "../../data/hdf5/hdf5_file.h"
#include "../../data/models/model_directory.h"
#include "../../data/sources/named_arrays.h"
#include "../catch.h"
#include "../npy_file.h"

using namespace headwave;

namespace {

/// Keeps the attention of one layer.
class Keep : public Probe {
 public:
  using Probe::see;
  void see(const Tile& tile) override {
    kind = tile.kind;
    if (weights.empty()) weights.assign(static_cast<std::size_t>(tile.heads()), Matrix::Zero(tile.queries, tile.keys));
    for (std::size_t h = 0; h < weights.size(); ++h)
      weights[h].middleRows(tile.first_row, tile.rows()) = tile.weights[h].cast<double>();
  }
  AttentionKind kind = AttentionKind::cross;
  std::vector<Matrix> weights;
};

std::filesystem::path stored(const std::string& name) {
  return repository_file("tests/golden/stored") / name;
}

/// The second half of the folder's array.
std::vector<float> npy_floats_tail(const NamedArrays& arrays) {
  const std::vector<float> all = arrays.floats("hidden_states_layer_0");
  return {all.begin() + std::ssize(all) / 2, all.end()};
}

std::vector<float> sawtooth(Index entries) {
  std::vector<float> values;
  for (Index i = 0; i < entries; ++i) values.push_back(0.01F * static_cast<float>(i % 17));
  return values;
}

struct Tensor {
  std::string name;
  std::vector<Index> shape;
  std::vector<float> values = {};  // none: a sawtooth
};

/// @param said  the metadata, as JSON
void write_tensors(const std::filesystem::path& path, std::vector<Tensor> tensors, const std::string& said) {
  std::string header = R"({"__metadata__": )" + said;
  std::size_t bytes = 0;
  for (auto& [name, shape, values] : tensors) {
    if (values.empty()) values = sawtooth(static_cast<Index>(entries_of(whole_block(shape))));
    const std::size_t end = bytes + sizeof(float) * values.size();
    header += fmt::format(R"(, "{}": {{"dtype": "F32", "shape": [{}], "data_offsets": [{}, {}]}})", name,
                          fmt::join(shape, ", "), std::exchange(bytes, end), end);
  }
  header += "}";
  const std::uint64_t size = header.size();
  std::ofstream file(path, std::ios::binary);
  file.write(reinterpret_cast<const char*>(&size), sizeof size);
  file << header;
  for (const Tensor& tensor : tensors)
    file.write(reinterpret_cast<const char*>(tensor.values.data()),
               static_cast<std::streamsize>(sizeof(float) * tensor.values.size()));
}

}  // namespace

TEST_CASE("stored queries and keys are attended as their file says: causal, with its own scale") {
  const StoredInput input = stored_states(stored("causal.h5"));
  CHECK(input.model.stack.block.heads == 2);
  CHECK(input.model.stack.block.d_head == 3);
  CHECK(input.model.stack.block.causal);
  CHECK(input.model.stack.block.score_scale == 0.25);
  REQUIRE(input.source->count() == 2);
  const std::vector<double> reference = Hdf5File(stored("causal.h5")).doubles("/reference/layer_1/attention");
  for (Index d = 0; d < 2; ++d) {
    const Document document = input.source->document(d);
    REQUIRE(document.stored.size() == 1);
    CHECK(document.stored.front().layer == 1);
    CHECK(document.tokens == std::vector<std::string>{"w0", "w1", "w2", "w3", "w4", "w5", "w6"});
    Keep keep;
    const std::array<Probe*, 1> probes{&keep};
    model_pass(input.model, document, probes);
    CHECK(keep.kind == AttentionKind::causal);
    REQUIRE(keep.weights.size() == 2);
    for (Index h = 0; h < 2; ++h) {
      const MatrixView expected(reference.data() + (2 * d + h) * 49, 7, 7);
      // Scores below 4 from three float products each: their errors, and those of the softmax, are some eps.
      CHECK((keep.weights[static_cast<std::size_t>(h)] - expected).cwiseAbs().maxCoeff() <
            16 * std::numeric_limits<float>::epsilon());
    }
  }
}

TEST_CASE("without attributes attention goes in both directions, scaled by the head's width") {
  const TemporaryFolder folder;
  write_npy(folder / "queries_layer_0.npy", {4, 6}, sawtooth(24));
  write_npy(folder / "keys_layer_0.npy", {4, 6}, sawtooth(24));
  StoredStatesOptions options;
  options.heads = 2;
  const StoredInput input = stored_states(folder.path(), options);
  CHECK_FALSE(input.model.stack.block.causal);
  CHECK(input.model.stack.block.score_scale == Approx(1 / std::sqrt(3.0)));
  CHECK(input.model.stack.d_model() == 0);
  CHECK(input.source->count() == 1);
  CHECK(input.source->length(0) == 4);
  CHECK(input.source->document(0).stored.front().query(1, 0) == 0.06F);
}

TEST_CASE("attributes that contradict themselves, the arrays or the model are refused") {
  CHECK_THROWS_WITH(stored_states(stored("causal_two.h5")), ContainsSubstring("'causal' is 2, expected 0 or 1"));
  CHECK_THROWS_WITH(stored_states(stored("causal_text.h5")), ContainsSubstring("'causal' is not one finite number"));
  CHECK_THROWS_WITH(stored_states(stored("scale_negative.h5")), ContainsSubstring("expected a number above 0"));
  CHECK_THROWS_WITH(stored_states(stored("head_dim_other.h5")), ContainsSubstring("'head_dim' is 4"));
  CHECK_THROWS_WITH(stored_states(stored("heads_not_dividing.h5")),
                    ContainsSubstring("cannot be divided into 4 heads"));
  const auto with_model = [](const char* file, auto change) {
    Model model;
    BlockSpec& block = model.stack.block;
    block.heads = block.kv_heads = 2;
    block.d_head = 3;
    block.causal = true;
    block.score_scale = 0.25;
    change(block);
    return stored_states(stored(file), std::move(model)).source->count();
  };
  CHECK(with_model("causal.h5", [](BlockSpec&) {}) == 2);
  CHECK_THROWS_WITH(with_model("causal.h5", [](BlockSpec& block) { block.causal = false; }),
                    ContainsSubstring("'causal' is 1, but the model's is 0"));
  CHECK_THROWS_WITH(with_model("causal.h5", [](BlockSpec& block) { block.score_scale = 0.5; }),
                    ContainsSubstring("'score_scale' is 0.25, but the model's is 0.5"));
  CHECK_THROWS_WITH(with_model("causal.h5", [](BlockSpec& block) { block.heads = 3; }),
                    ContainsSubstring("'num_heads' is 2, but the model's is 3"));
}

TEST_CASE("groups that do not fit together are refused by name") {
  CHECK_THROWS_WITH(stored_states(stored("no_keys.h5")), ContainsSubstring("of layer 1 only the queries are stored"));
  CHECK_THROWS_WITH(stored_states(stored("documents_differ.h5")),
                    ContainsSubstring("'keys/layer_0' holds 1 documents of 7 tokens, but another layer 2 of 7 tokens"));
  CHECK_THROWS_WITH(stored_states(stored("one_axis.h5")), ContainsSubstring("'hidden_states/layer_0' has shape ("));
  CHECK_THROWS_WITH(stored_states(stored("not_a_group.h5")), ContainsSubstring("are stored; give model"));
  CHECK_THROWS_WITH(stored_states(stored("tokens_short.h5")),
                    ContainsSubstring("'tokens' has shape (3), expected one entry per token"));
  // Two are there of 2^33, which would not fit in memory even as a list.
  CHECK_THROWS_WITH(stored_states(stored("documents_promised.h5")),
                    ContainsSubstring("are stored: the file is damaged"));
  const StoredInput input = stored_states(stored("not_finite.h5"));
  CHECK(input.source->document(0).stored.size() == 1);
  CHECK_THROWS_WITH(input.source->document(1),
                    ContainsSubstring("'queries/layer_1' document 1 holds NaN or infinite values, first at token"));
  CHECK_THROWS_AS(stored_states(stored("missing.h5")), IoError);
}

TEST_CASE("stored queries and keys have one width, and a message names the file that differs") {
  const TemporaryFolder folder;
  StoredStatesOptions options;
  options.heads = 2;
  write_npy(folder / "queries_layer_0.npy", {5, 4}, sawtooth(20));
  write_npy(folder / "keys_layer_0.npy", {5, 6}, sawtooth(30));
  CHECK_THROWS_WITH(stored_states(folder.path(), options),
                    ContainsSubstring("the keys have width 6, but the queries have 2 heads of width 2"));
  write_npy(folder / "keys_layer_0.npy", {5}, sawtooth(5));
  CHECK_THROWS_WITH(stored_states(folder.path(), options),
                    ContainsSubstring("keys_layer_0' has shape (5), expected (documents, T, width)"));
  write_npy(folder / "keys_layer_0.npy", {5, 4}, sawtooth(20));
  CHECK(stored_states(folder.path(), options).source->length(0) == 5);
}

TEST_CASE("states take a model's width, or weights that lie beside them") {
  const TemporaryFolder folder;
  const auto model = repository_file("tests/golden/models/bert");
  write_npy(folder / "states.npy", {2, 5, 32}, sawtooth(2 * 5 * 32));
  StoredStatesOptions options;
  options.layer = 1;
  options.any_states = true;  // a sawtooth is what no norm gives
  const StoredInput input = stored_states(folder / "states.npy", open_model(model), options);
  CHECK(input.source->count() == 2);
  CHECK(input.source->document(1).stored.front().layer == 1);
  CHECK(input.source->document(1).stored.front().states.cols() == 32);
  options.documents = 1;
  CHECK(stored_states(folder / "states.npy", open_model(model), options).source->count() == 1);
  options.documents = 3;
  CHECK_THROWS_WITH(stored_states(folder / "states.npy", open_model(model), options),
                    ContainsSubstring("holds 2 documents, but 3 are requested"));
  options = {};
  options.layer = 9;
  CHECK_THROWS_WITH(stored_states(folder / "states.npy", open_model(model), options),
                    ContainsSubstring("states that enter layer 9, but the model has the layers 0 to 1"));
  options.layer = -1;
  CHECK_THROWS_WITH(stored_states(folder / "states.npy", open_model(model), options),
                    ContainsSubstring("its layer is -1"));
  write_npy(folder / "narrow.npy", {2, 5, 31}, sawtooth(2 * 5 * 31));
  CHECK_THROWS_WITH(stored_states(folder / "narrow.npy", open_model(model)),
                    ContainsSubstring("width 31, but the model's have 32"));
  CHECK_THROWS_WITH(stored_states(folder / "states.npy"), ContainsSubstring("give model"));

  std::filesystem::create_directory(folder / "beside");
  write_npy(folder / "beside/hidden_states_layer_0.npy", {5, 4}, sawtooth(20));
  write_npy(folder / "beside/layer_0_query.npy", {4, 6}, sawtooth(24));
  write_npy(folder / "beside/layer_0_key.npy", {3, 6}, sawtooth(18));
  options = {};
  options.heads = 2;
  CHECK_THROWS_WITH(stored_states(folder / "beside", options),
                    ContainsSubstring("beside: 'layer_0_key' has shape (3, 6), expected (d_model, heads * d_head), "
                                      "where d_model is 4"));
  write_npy(folder / "beside/layer_0_key.npy", {4, 6}, sawtooth(24));
  CHECK_THROWS_WITH(stored_states(folder / "beside"), ContainsSubstring("give head_count"));
  CHECK(stored_states(folder / "beside", options).model.stack.block.d_head == 3);
  write_npy(folder / "beside/layer_0_query_bias.npy", {5}, sawtooth(5));
  CHECK_THROWS_WITH(stored_states(folder / "beside", options), ContainsSubstring("has 5 entries, expected 6"));
}

TEST_CASE("stored queries and keys that have an axis of heads have as many heads, whatever else is said") {
  const TemporaryFolder folder;
  const auto write = [&](const std::string& place, const std::vector<Index>& queries, const std::vector<Index>& keys) {
    std::filesystem::create_directory(folder / place);
    const auto entries = [](const std::vector<Index>& shape) {
      Index count = 1;
      for (const Index size : shape) count *= size;
      return count;
    };
    write_npy(folder / place / "queries_layer_0.npy", queries, sawtooth(entries(queries)));
    write_npy(folder / place / "keys_layer_0.npy", keys, sawtooth(entries(keys)));
    return folder / place;
  };
  const auto with_heads = [](Index heads) {
    StoredStatesOptions options;
    options.heads = heads;
    return options;
  };
  const std::filesystem::path four = write("four", {2, 4, 7, 3}, {2, 2, 7, 3});
  for (const Index asked : {0, 4}) {
    const StoredInput input = stored_states(four, with_heads(asked));
    CHECK(input.model.stack.block.heads == 4);
    CHECK(input.model.stack.block.kv_heads == 2);
    CHECK(input.model.stack.block.d_head == 3);
  }
  for (const Index other : {2, 6})
    CHECK_THROWS_WITH(stored_states(four, with_heads(other)),
                      ContainsSubstring("queries_layer_0' has 4 heads along its axes (document, head, token, width), "
                                        "expected " +
                                        std::to_string(other)));
  CHECK_THROWS_WITH(stored_states(write("split", {2, 4, 7, 3}, {2, 4, 7, 6}), with_heads(0)),
                    ContainsSubstring("the keys have width 24, but the queries have 4 heads of width 3"));
  CHECK_THROWS_WITH(stored_states(write("keys", {2, 4, 7, 3}, {2, 1, 7, 12}), with_heads(4)),
                    ContainsSubstring("keys_layer_0' has 1 heads along its axes"));
  // As (document, token, head, width) they would be 7 heads of 4 tokens.
  const std::filesystem::path other_order = write("order", {2, 7, 4, 3}, {2, 7, 4, 3});
  CHECK_THROWS_WITH(stored_states(other_order),
                    ContainsSubstring("more heads (7) than tokens (4) if its axes are (document, "
                                      "head, token, width); give head_count=7 if this"));
  CHECK_THROWS_WITH(stored_states(other_order, with_heads(4)), ContainsSubstring("7 heads along its axes"));
  CHECK(stored_states(other_order, with_heads(7)).source->length(0) == 4);
}

TEST_CASE("stored arrays that are not there, or entries and numbers they do not have, are refused") {
  const TemporaryFolder folder;
  write_npy(folder / "hidden_states_layer_0.npy", {2, 3, 4}, sawtooth(24));
  const auto npy = open_arrays(folder.path());
  CHECK(npy->block("hidden_states_layer_0", {{1, 0, 0}, {1, 3, 4}}) == npy_floats_tail(*npy));
  CHECK_THROWS_WITH(
      npy->block("hidden_states_layer_0", {{1, 0, 0}, {2, 3, 4}}),
      ContainsSubstring("hidden_states_layer_0': the requested block of shape (2, 3, 4) at (1, 0, 0) lies outside"));
  CHECK_THROWS_WITH(npy->shape("hidden_states_layer_1"), ContainsSubstring("it holds 'hidden_states_layer_0'"));
  CHECK_THROWS_AS(npy->floats("hidden_states_layer_1"), FormatError);
  const auto hdf5 = open_arrays(stored("causal_text.h5"));
  CHECK_THROWS_AS(hdf5->shape("hidden_states/layer_9"), FormatError);
  CHECK_THROWS_AS(hdf5->floats("hidden_states/layer_9"), FormatError);
  CHECK_THROWS_AS(hdf5->number("causal"), FormatError);
  CHECK_FALSE(hdf5->number("none").has_value());
}

TEST_CASE("of what is said twice neither counts, and padding is no token") {
  const TemporaryFolder folder;
  const std::string said = R"({"num_heads": "2"})";
  const auto written = [&](std::vector<Tensor> tensors) {
    write_tensors(folder / "s.safetensors", std::move(tensors), said);
    return folder / "s.safetensors";
  };
  StoredStatesOptions four;
  four.heads = 4;
  const std::vector<Tensor> right{{"queries/layer_0", {2, 5, 4}}, {"keys/layer_0", {2, 5, 4}}};
  CHECK(stored_states(written(right)).source->count() == 2);
  CHECK_THROWS_WITH(stored_states(written(right), four), ContainsSubstring("num_heads is 2, but 4 heads were given"));
  std::vector<Tensor> twice = right;
  twice.push_back({"queries/layer_00", {2, 5, 4}});
  CHECK_THROWS_WITH(stored_states(written(twice)),
                    ContainsSubstring("'queries/layer_00' and 'queries/layer_0' both belong to layer 0"));
  for (const float last : {1.0F, 0.0F}) {
    std::vector<Tensor> padded = right;
    padded.push_back({"attention_mask", {2, 5}, {1, 1, 1, 1, 1, 1, 1, 1, 1, last}});
    const StoredInput input = stored_states(written(padded));
    CHECK(input.source->document(0).stored.size() == 1);
    if (last == 1)
      CHECK(input.source->document(1).stored.size() == 1);
    else
      CHECK_THROWS_WITH(input.source->document(1), ContainsSubstring("'attention_mask' is 0 at token 4 of document 1"));
  }
}

TEST_CASE("states that are numbered from 1 are refused, whatever norm is put on them") {
  const TemporaryFolder folder;
  for (const char* layer : {"1", "2"})
    write_npy(folder / (std::string("hidden_states_layer_") + layer + ".npy"), {2, 5, 32}, sawtooth(2 * 5 * 32));
  StoredStatesOptions options;
  options.any_states = true;
  CHECK_THROWS_WITH(stored_states(folder.path(), open_model(repository_file("tests/golden/models/bert")), options),
                    ContainsSubstring("states of layers 1 to 2, but the model has the layers 0 to 1") &&
                        ContainsSubstring("if the layers are numbered from 1, rename them"));
}
