#include <filesystem>
#include <tuple>
#include <vector>

#include "../../core/model/intervention.h"
#include "../../core/model/model_pass.h"
#include "../../core/numbers/random.h"
#include "../../data/arrays/array_block.h"
#include "../../data/models/model_directory.h"
#include "../../data/models/model_weights.h"
#include "../catch.h"
#include "edited_model.h"
#include "kept_pass.h"
#include "test_files.h"

using namespace headwave;

namespace {

namespace fs = std::filesystem;

ModelPlace by_layer(const fs::path& folder) {
  ModelPlace place(folder);
  place.weights_in = WeightsIn::layers;
  return place;
}

ModelPlace first_layers(const fs::path& folder, Index layers) {
  ModelPlace place(folder);
  place.layers = layers;
  return place;
}

std::vector<std::int32_t> random_ids(Index count, Random& random) {
  std::vector<std::int32_t> ids(static_cast<std::size_t>(count));
  for (std::int32_t& id : ids) id = 5 + static_cast<std::int32_t>(random.below(20));
  return ids;
}

/// Three of different lengths, with targets for an encoder-decoder.
std::vector<Document> some_documents(const Model& model) {
  Random random(3);
  std::vector<Document> documents(3);
  for (std::size_t i = 0; i < documents.size(); ++i) {
    const Index n = static_cast<Index>(i);
    documents[i].ids = random_ids(6 + 3 * n, random);
    if (model.decoder) documents[i].target.ids = random_ids(9 - 2 * n, random);
  }
  return documents;
}

/// The models among the goldens.
std::vector<fs::path> families() {
  std::vector<fs::path> folders;
  for (const auto& entry : fs::directory_iterator(repository_file("tests/golden/families")))
    if (entry.is_directory()) folders.push_back(entry.path());
  REQUIRE(folders.size() > 15);
  return folders;
}

}  // namespace

TEST_CASE("weights that are read layer by layer give every family the same digits, documents side by side") {
  for (const fs::path& folder : families()) {
    INFO(folder);
    const Model whole = open_model(folder), layers = open_model(by_layer(folder));
    REQUIRE(layers.by_layer());
    REQUIRE_FALSE(whole.by_layer());
    CHECK(layers.stack.blocks.front().self.query.weight.data() == nullptr);
    CHECK(layers.stack.blocks.front().self.query.d_in() == whole.stack.blocks.front().self.query.d_in());
    CHECK(layers.stack.layer(0)->self.key.weight == whole.stack.blocks[0].self.key.weight);
    CHECK(layers.stack.queries_and_keys(0)->self.query.weight == whole.stack.blocks[0].self.query.weight);
    CHECK(layers.stack.d_model() == whole.stack.d_model());
    CHECK(layers.stack.normalises_heads() == whole.stack.normalises_heads());

    const std::vector<Document> documents = some_documents(whole);
    std::vector<KeptPass> kept(documents.size());
    std::vector<std::vector<Probe*>> probes;
    for (KeptPass& pass : kept) probes.push_back({&pass});
    std::vector<Passing> passing;
    for (std::size_t i = 0; i < documents.size(); ++i) passing.push_back({&documents[i], probes[i]});
    const std::vector<Matrix32> together = model_passes(layers, passing, 2, {.final_states = true});
    REQUIRE(together.size() == documents.size());
    for (std::size_t i = 0; i < documents.size(); ++i) {
      KeptPass alone;
      const std::vector<Probe*> probe{&alone};
      const Matrix32 states = model_pass(whole, documents[i], probe, {.final_states = true});
      CHECK(together[i] == states);
      CHECK(kept[i].states == alone.states);
      CHECK(kept[i].weights == alone.weights);
    }
  }
}

TEST_CASE("layers that are one in the checkpoint are read as one") {
  const Model model = open_model(by_layer(repository_file("tests/golden/families/albert")));
  REQUIRE(model.stack.layers() > 1);
  const auto first = model.stack.layer(0);
  CHECK(model.stack.layer(1) == first);
  CHECK(model.stack.queries_and_keys(1) == first);
}

TEST_CASE("weights in bfloat16 are converted with their layer") {
  const fs::path folder = repository_file("tests/golden/families/llama");
  const SafetensorsFile file(folder / "model.safetensors");
  std::vector<std::vector<std::byte>> halves;
  std::vector<TensorInMemory> tensors;
  for (const TensorInfo& tensor : file.tensors()) {
    const std::span<const std::byte> bytes = file.bytes(tensor);
    std::vector<std::byte>& upper = halves.emplace_back();
    for (std::size_t i = 0; i < bytes.size(); i += 4) upper.insert(upper.end(), {bytes[i + 2], bytes[i + 3]});
    tensors.push_back({tensor.name, "BF16", tensor.shape, upper});
  }
  const auto checkpoint = std::make_shared<const Checkpoint>("halves", tensors, nullptr);
  const ModelMap map = model_map(text_of_file(folder / "config.json"), "halves", checkpoint->names());
  const Model whole = mapped_weights(map, checkpoint).model;
  const Model layers = mapped_weights(map, checkpoint, {.by_layer = true}).model;
  const Document document = some_documents(whole)[1];
  CHECK(model_pass(layers, document, {}, {.final_states = true}) ==
        model_pass(whole, document, {}, {.final_states = true}));

  // Words are read row by row: they are those of the same numbers stored as floats.
  std::vector<std::vector<float>> widened;
  std::vector<TensorInMemory> floats;
  for (const TensorInMemory& tensor : tensors) {
    std::vector<float>& values = widened.emplace_back(tensor.bytes.size() / 2);
    put_floats(tensor.bytes, NumberType::bf16, ByteOrder::little, values);
    floats.push_back({tensor.name, "F32", tensor.shape, std::as_bytes(std::span(values))});
  }
  const Model wide = mapped_weights(map, std::make_shared<const Checkpoint>("floats", floats, nullptr)).model;
  const WordTable& words = whole.stack.embedding.words;
  CHECK_THROWS_WITH(words.in_memory(),
                    ContainsSubstring("the word embeddings are read row by row, but they are needed in memory as"));
  CHECK(words.copied(0, words.rows()) == wide.stack.embedding.words.copied(0, words.rows()));
  CHECK(model_pass(whole, document, {}, {.final_states = true}) ==
        model_pass(wide, document, {}, {.final_states = true}));
}

TEST_CASE("words are finite as the floats that are read of them") {
  const fs::path folder = repository_file("tests/golden/families/llama");
  const SafetensorsFile file(folder / "model.safetensors");
  std::vector<TensorInMemory> tensors;
  std::vector<double> wide;
  for (const TensorInfo& tensor : file.tensors()) {
    tensors.push_back({tensor.name, tensor.dtype, tensor.shape, file.bytes(tensor)});
    if (tensor.name != "model.embed_tokens.weight") continue;
    std::vector<float> values(static_cast<std::size_t>(tensor.size()));
    put_floats(file.bytes(tensor), NumberType::f32, ByteOrder::little, values);
    wide.assign(values.begin(), values.end());
    tensors.back().dtype = "F64";
    tensors.back().bytes = std::as_bytes(std::span(wide));
  }
  REQUIRE_FALSE(wide.empty());
  const auto checkpoint = std::make_shared<const Checkpoint>("wide", tensors, nullptr);
  const ModelMap map = model_map(text_of_file(folder / "config.json"), "wide", checkpoint->names());
  CHECK(mapped_weights(map, checkpoint).problems.empty());
  for (const double broken : {1e300, std::nan("")}) {
    wide.back() = broken;
    const std::vector<std::string> problems = mapped_weights(map, checkpoint).problems;
    REQUIRE(problems.size() == 1);
    CHECK_THAT(problems.front(), ContainsSubstring("'model.embed_tokens.weight' holds"));
    CHECK(mapped_weights(map, checkpoint, {.check_values = false}).problems.empty());
  }
}

TEST_CASE("a layer's weights are shared while somebody holds them, and let go when nobody does") {
  const Model model = open_model(by_layer(repository_file("tests/golden/families/gpt2")));
  std::weak_ptr<const Block> once;
  {
    const auto held = model.stack.layer(1), again = model.stack.layer(1), pair = model.stack.queries_and_keys(1);
    CHECK(held == again);
    CHECK(held == pair);
    once = held;
  }
  CHECK(model.stack.queries_and_keys(0) != nullptr);  // the last that was asked for is kept for its other heads
  CHECK(once.expired());
}

TEST_CASE("the first layers of a model are what they are among all of them") {
  const fs::path folder = repository_file("tests/golden/families/gpt2");
  const Model whole = open_model(folder), first = open_model(first_layers(folder, 1));
  REQUIRE(whole.stack.layers() > 1);
  CHECK(first.stack.layers() == 1);
  const std::vector<Document> documents = some_documents(whole);
  KeptPass all, one;
  const std::vector<Probe*> all_probes{&all}, one_probe{&one};
  model_pass(whole, documents[0], all_probes);
  model_pass(first, documents[0], one_probe);
  const auto heads = static_cast<std::size_t>(whole.stack.block.heads);
  REQUIRE(one.weights[AttentionKind::causal].size() == heads);
  for (std::size_t h = 0; h < heads; ++h)
    CHECK(one.weights[AttentionKind::causal][h] == all.weights[AttentionKind::causal][h]);
  ModelPlace both = first_layers(folder, 1);
  both.weights_in = WeightsIn::layers;
  CHECK(open_model(both).stack.layers() == 1);
  CHECK(std::get<std::int64_t>(model_provenance(both).at("first_layers")) == 1);
  CHECK_THROWS_WITH(open_model(first_layers(folder, 99)), ContainsSubstring("the model has"));
  CHECK_THROWS_WITH(open_model(first_layers(folder, 99)),
                    ContainsSubstring("layers 0 to 98 are requested, but the model has only 2"));
  CHECK_THROWS_WITH(open_model(first_layers(repository_file("tests/golden/families/bart"), 1)),
                    ContainsSubstring("reads the encoder's last layer"));
}

TEST_CASE("weights are read layer by layer where they take more than half of the memory there is") {
  ModelPlace place(repository_file("tests/golden/families/llama"));
  CHECK_FALSE(open_model(place).by_layer());
  place.memory = 1000;
  CHECK(open_model(place).by_layer());
  place.weights_in = WeightsIn::memory;
  CHECK_FALSE(open_model(place).by_layer());
}

TEST_CASE("what is wrong with a layer that is read later is told when it is read, its shape at once") {
  const TemporaryFolder folder;
  copy_model(repository_file("tests/golden/families/llama"), folder / "model");
  put_nan(folder / "model" / "model.safetensors", "model.layers.1.self_attn.q_proj.weight");
  CHECK_THROWS_WITH(open_model(folder / "model"), ContainsSubstring("NaN"));
  const Model model = open_model(by_layer(folder / "model"));
  CHECK(model.stack.layer(0) != nullptr);
  CHECK_THROWS_WITH(model.stack.layer(1),
                    ContainsSubstring("'model.layers.1.self_attn.q_proj.weight' holds values that are NaN"));
  CHECK_THROWS_AS(model.stack.queries_and_keys(1), FormatError);
  ChangedModel changed(model);
  CHECK_THROWS_WITH(changed.attention_of(AttentionKind::causal, 0), ContainsSubstring("weights=memory"));
  CHECK_THROWS_WITH(require_in_memory(model.stack),
                    ContainsSubstring("interventions cannot change weights that are read layer by layer"));
  replace_in(folder / "model" / "config.json", "\"intermediate_size\": ", "\"intermediate_size\": 1");
  CHECK_THROWS_WITH(open_model(by_layer(folder / "model")), ContainsSubstring("has shape"));
}
