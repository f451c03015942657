#include "../../data/models/model_directory.h"

#include <array>
#include <cmath>
#include <cstring>
#include <fstream>
#include <span>

#include "../../core/model/model_pass.h"
#include "../../core/planted/planted.h"
#include "../../data/arrays/safetensors.h"
#include "../../data/models/model_weights.h"
#include "../../data/models/planted_directory.h"
#include "../catch.h"
#include "edited_model.h"
#include "kept_pass.h"

using namespace headwave;

namespace {

struct ExpectedPass {
  Document document;
  std::vector<MatrixView32> states;   // layers + 1
  std::vector<MatrixView32> weights;  // layers * heads
};

ExpectedPass expected_case(const Checkpoint& file, const SafetensorsFile& raw, const std::string& name,
                           const Stack& stack) {
  ExpectedPass expected;
  const TensorInfo& ids = file.info(name + ".ids");
  const Index length = ids.shape.front();
  expected.document.ids.resize(static_cast<std::size_t>(length));
  std::memcpy(expected.document.ids.data(), raw.bytes(ids).data(), raw.bytes(ids).size());
  const auto rows = [&](const std::string& tensor) {
    return reinterpret_cast<const float*>(raw.bytes(file.info(tensor)).data());
  };
  for (Index l = 0; l <= stack.layers(); ++l)
    expected.states.emplace_back(rows(name + ".hidden_states") + l * length * stack.d_model(), length, stack.d_model());
  for (Index h = 0; h < stack.layers() * stack.block.heads; ++h)
    expected.weights.emplace_back(rows(name + ".attentions") + h * length * length, length, length);
  return expected;
}

float largest(const Matrix32& difference) {
  return difference.cwiseAbs().maxCoeff();
}

}  // namespace

TEST_CASE("BERT and RoBERTa compute what transformers computes") {
  for (const std::string family : {"bert", "roberta"}) {
    const auto folder = repository_file("tests/golden/models/" + family);
    const Model model = open_model(folder);
    const Checkpoint file(folder / "expected.safetensors");
    const SafetensorsFile raw(folder / "expected.safetensors");
    for (const std::string name : {"short", "full", "padded"}) {
      CAPTURE(family, name);
      const ExpectedPass expected = expected_case(file, raw, name, model.stack);
      KeptPass kept;
      const std::array<Probe*, 1> probes{&kept};
      const Matrix32 last = model_pass(model, expected.document, probes, {.final_states = true});
      std::vector<Matrix32>& states = kept.states[AttentionKind::self];
      const std::vector<Matrix32>& weights = kept.weights[AttentionKind::self];
      states.push_back(last);
      REQUIRE(states.size() == expected.states.size());
      REQUIRE(weights.size() == expected.weights.size());
      for (std::size_t l = 0; l < states.size(); ++l) {
        const float rms = std::sqrt(expected.states[l].squaredNorm() / static_cast<float>(expected.states[l].size()));
        CHECK(largest(states[l] - expected.states[l]) <= 1e-4F * rms);
      }
      for (std::size_t h = 0; h < weights.size(); ++h) CHECK(largest(weights[h] - expected.weights[h]) <= 1e-5F);
      // Not uniform, or agreeing would mean little.
      CHECK(expected.weights.front().maxCoeff() > 2.0F / static_cast<float>(expected.document.length()));
    }
  }
}

TEST_CASE("a planted model read back from its directory is the same model") {
  const TemporaryFolder folder;
  const PlantedModel planted = planted_model(planted_bank());
  const auto documents = planted_documents(planted, 2, 64, 1);
  write_planted_directory(planted, *documents, folder / "planted");
  const Model model = open_model(folder / "planted");
  CHECK(model.stack.block.d_head == 32);
  const Document document = documents->document(1);
  const Matrix32 written = model_pass(planted.model, document, {}, {.final_states = true});
  const Matrix32 read = model_pass(model, document, {}, {.final_states = true});
  CHECK(written == read);
  CHECK(position_table(folder / "planted") == planted.model.stack.embedding.positions);
  std::ofstream(folder / "file") << "in the way";
  CHECK_THROWS_AS(write_planted_directory(planted, *documents, folder / "file"), IoError);
  PlantedModel narrow = planted;
  narrow.spec.d_head = 31;
  CHECK_THROWS_WITH(write_planted_directory(narrow, *documents, folder / "narrow"),
                    ContainsSubstring("write_planted_directory: 8 heads of width 31 do not fill d_model 256, as"));
  CHECK_FALSE(std::filesystem::exists(folder / "narrow"));
}

TEST_CASE("every way into a model directory refuses one that is not there or not known") {
  const TemporaryFolder folder;
  const auto none = folder / "none", model = folder / "model";
  CHECK_THROWS_AS(model_map(none), IoError);
  CHECK_THROWS_AS(open_model(none), IoError);
  CHECK_THROWS_AS(open_partial_model(none), IoError);
  CHECK_THROWS_AS(model_check(none), IoError);
  CHECK_THROWS_AS(position_table(none), IoError);
  CHECK_THROWS_AS(model_provenance(none), IoError);
  copy_model(repository_file("tests/golden/models/bert"), model);
  replace_in(model / "config.json", "\"num_attention_heads\": 4", "\"num_attention_heads\": 5");
  CHECK_THROWS_AS(model_map(model), FormatError);
  CHECK_THROWS_AS(open_partial_model(model), FormatError);
  CHECK_THROWS_AS(model_check(model), FormatError);
  std::ofstream(model / "model.safetensors") << "no tensors";
  CHECK_THROWS_AS(model_provenance(model), FormatError);
  CHECK_THROWS_WITH(position_table(repository_file("tests/golden/families/llama")), ContainsSubstring("position"));
}

TEST_CASE("position tables of partial checkpoints") {
  NEEDS_SHARED("minilm-positions/config.json");
  NEEDS_SHARED("gpt2-small-attention/config.json");
  // The folder holds model-partial.safetensors, which is not the name of a whole model; the file itself can be given.
  CHECK_THROWS_AS(position_table(shared_file("minilm-positions")), Error);
  CHECK(position_table(shared_file("minilm-positions/model-partial.safetensors")).rows() == 512);
  const Matrix32 gpt2 = position_table(shared_file("gpt2-small-attention"));
  CHECK(gpt2.rows() == 1024);
  CHECK(gpt2.cols() == 768);
}

TEST_CASE("RoBERTa's positions begin after its padding index") {
  const ModelMap map = model_map(repository_file("tests/golden/models/roberta"));
  CHECK(map.stack.positions.first_row == 2);
  CHECK(map.longest == 40);
  CHECK(position_table(repository_file("tests/golden/models/roberta")).rows() == 40);
}

TEST_CASE("a model directory that is broken is described in one line") {
  const TemporaryFolder folder;
  const auto model = folder / "model";
  copy_model(repository_file("tests/golden/models/bert"), model);
  SECTION("no directory") {
    CHECK_THROWS_WITH(open_model(folder / "nothing"), ContainsSubstring("nothing: not found"));
  }
  SECTION("no config") {
    std::filesystem::remove(model / "config.json");
    CHECK_THROWS_WITH(open_model(model), ContainsSubstring("config.json: not found"));
  }
  SECTION("no weights") {
    std::filesystem::remove(model / "model.safetensors");
    std::filesystem::remove(model / "expected.safetensors");
    CHECK_THROWS_WITH(open_model(model), ContainsSubstring("model.safetensors"));
  }
  SECTION("weights cut short") {
    std::filesystem::resize_file(model / "model.safetensors", 40000);
    CHECK_THROWS_AS(open_model(model), FormatError);
  }
  SECTION("unknown architecture") {
    replace_in(model / "config.json", "\"bert\"", "\"retnet\"");
    CHECK_THROWS_WITH(open_model(model),
                      ContainsSubstring("'retnet' is not known; headwave reads albert, bart, bert, "));
  }
  SECTION("heads that do not divide") {
    replace_in(model / "config.json", "\"num_attention_heads\": 4", "\"num_attention_heads\": 5");
    CHECK_THROWS_WITH(open_model(model), ContainsSubstring("does not divide"));
  }
  SECTION("a size that is no size") {
    replace_in(model / "config.json", "\"hidden_size\": 32", "\"hidden_size\": -32");
    CHECK_THROWS_WITH(open_model(model), ContainsSubstring("'hidden_size' is -32"));
  }
  SECTION("a missing size") {
    replace_in(model / "config.json", "\"intermediate_size\"", "\"other_size\"");
    CHECK_THROWS_WITH(open_model(model), ContainsSubstring("'intermediate_size' is missing"));
  }
  SECTION("a tensor of another shape") {
    replace_in(model / "config.json", "\"intermediate_size\": 48", "\"intermediate_size\": 64");
    CHECK_THROWS_WITH(open_model(model),
                      ContainsSubstring("intermediate.dense.weight") && ContainsSubstring("(64, 32)"));
  }
  SECTION("a layer too many") {
    replace_in(model / "config.json", "\"num_hidden_layers\": 2", "\"num_hidden_layers\": 3");
    CHECK_THROWS_WITH(open_model(model), ContainsSubstring("no tensor 'encoder.layer.2.attention.self.query.weight'") &&
                                             ContainsSubstring("and 15 more problems"));
  }
  SECTION("NaN among the weights") {
    put_nan(model / "model.safetensors", "encoder.layer.1.output.dense.bias", 1);
    CHECK_THROWS_AS(open_partial_model(model), FormatError);
    CHECK_THROWS_WITH(open_model(model),
                      ContainsSubstring("encoder.layer.1.output.dense.bias' holds values that are NaN"));
  }
}

TEST_CASE("documents that do not fit the model are refused") {
  const Model model = open_model(repository_file("tests/golden/models/bert"));
  Document document;
  document.ids.assign(41, 5);
  CHECK_THROWS_WITH(model_pass(model, document, {}), ContainsSubstring("41 tokens, but the model has 40 positions"));
  document.ids = {5, 90};
  CHECK_THROWS_WITH(model_pass(model, document, {}),
                    ContainsSubstring("token 1 has id 90, outside the vocabulary of 90 tokens"));
  document.ids.clear();
  document.stored.push_back({0, Matrix32::Zero(4, 16), {}, {}});
  CHECK_THROWS_WITH(model_pass(model, document, {}), ContainsSubstring("have width 16, but the model expects 32"));
  Model narrow = model;
  narrow.stack.block.d_head /= 2;
  document.stored = {{0, Matrix32::Zero(4, 32), {}, {}}};
  CHECK_THROWS_WITH(model_pass(narrow, document, {}),
                    ContainsSubstring("queries projected from stored states of layer 0 have width 32, but the model"));
  document.stored = {{2, Matrix32::Zero(4, 32), {}, {}}};
  CHECK_THROWS_WITH(model_pass(model, document, {}), ContainsSubstring("weights are known for 2 layers"));
}

TEST_CASE("sizes that a config asks for and no file holds are told, and not made") {
  const TemporaryFolder folder;
  copy_model(repository_file("tests/golden/families/marian"), folder / "marian");
  replace_in(folder / "marian/config.json", R"("max_position_embeddings": 24)",
             R"("max_position_embeddings": 67000000)");
  const ModelCheck check = model_check(folder / "marian");
  REQUIRE(check.problems.size() == 2);  // of the encoder and of the decoder
  CHECK_THAT(check.problems.front(), ContainsSubstring("67000000 sinusoidal positions of width 20 are too many"));
  CHECK_THROWS_WITH(open_model(folder / "marian"), ContainsSubstring("at most 3355443: give the length"));
  CHECK_THROWS_WITH(position_table(folder / "marian"), ContainsSubstring("at most 3355443: give the length"));
}
