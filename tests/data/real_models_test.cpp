// Whole models that others trained, against numbers that others computed.

#include <array>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "../../core/model/layer_positions.h"
#include "../../core/model/model_pass.h"
#include "../../data/hdf5/hdf5_file.h"
#include "../../data/models/model_directory.h"
#include "../../data/tokens/tokenizer.h"
#include "../catch.h"
#include "kept_pass.h"

using namespace headwave;

namespace {

/// An array of a reference file, and its pieces of (rows, cols).
class Reference {
 public:
  Reference(const Hdf5File& file, const std::string& name)
      : shape_(file.node(name).shape), values_(file.doubles(name)) {}

  /// Piece i of all pieces of the last two axes.
  [[nodiscard]] MatrixView piece(Index i) const {
    const Index rows = shape_[shape_.size() - 2];
    const Index cols = shape_.back();
    REQUIRE((i + 1) * rows * cols <= static_cast<Index>(values_.size()));
    return {values_.data() + i * rows * cols, rows, cols};
  }
  [[nodiscard]] const std::vector<double>& values() const { return values_; }
  [[nodiscard]] Index extent(std::size_t axis) const { return shape_.at(axis); }

 private:
  std::vector<Index> shape_;
  std::vector<double> values_;
};

double largest_difference(const Matrix32& came, const MatrixView& expected) {
  REQUIRE(came.rows() == expected.rows());
  REQUIRE(came.cols() == expected.cols());
  return (came.cast<double>() - expected).cwiseAbs().maxCoeff();
}

double root_mean_square(const MatrixView& states) {
  return std::sqrt(states.squaredNorm() / static_cast<double>(states.size()));
}

std::vector<std::int32_t> ids_of(const std::vector<double>& values) {
  return {values.begin(), values.end()};
}

/// Scores of words by a model whose words predict too.
Matrix32 tied_scores(const Model& model, const Matrix32& states) {
  const WordTable& words = model.stack.embedding.words;
  return states * words.copied(0, words.rows()).transpose();
}

Index best_word(const Matrix32& scores, Index row) {
  Index best = 0;
  scores.row(row).maxCoeff(&best);
  return best;
}

}  // namespace

TEST_CASE("stories260K gives its reference attention, states and logits") {
  NEEDS_SHARED("golden/stories260K.h5");
  const Model model = open_model(shared_file("stories260K"));
  const Hdf5File file(shared_file("golden/stories260K.h5"));
  Document document;
  document.ids = ids_of(file.doubles("input_ids"));
  KeptPass kept;
  const std::array<Probe*, 1> probes{&kept};
  const Matrix32 last = model_pass(model, document, probes, {.final_states = true});
  const Reference attention(file, "attention"), inputs(file, "attention_input");
  const std::vector<Matrix32>& weights = kept.weights[AttentionKind::causal];
  REQUIRE(weights.size() == 40);
  for (std::size_t h = 0; h < weights.size(); ++h)
    CHECK(largest_difference(weights[h], attention.piece(static_cast<Index>(h))) <= 1e-5);
  const std::vector<Matrix32>& states = kept.states[AttentionKind::causal];
  REQUIRE(states.size() == 5);
  for (std::size_t l = 0; l < states.size(); ++l) {
    const MatrixView expected = inputs.piece(static_cast<Index>(l));
    CHECK(largest_difference(states[l], expected) <= 1e-4 * root_mean_square(expected));
  }
  const Matrix32 scores = tied_scores(model, last);
  const std::vector<double> last_scores = file.doubles("logits_last");
  const MatrixView expected(last_scores.data(), 1, 512);
  CHECK(largest_difference(scores.bottomRows(1), expected) <= 1e-4 * root_mean_square(expected));
  const std::vector<double> best = file.doubles("argmax");
  for (Index i = 0; i < scores.rows(); ++i)
    CHECK(best_word(scores, i) == static_cast<Index>(best[static_cast<std::size_t>(i)]));
}

TEST_CASE("stories260K continues its documented text greedily, word for word") {
  NEEDS_SHARED("stories260K/sample.txt");
  const Model model = open_model(shared_file("stories260K"));
  const auto tokenizer = open_tokenizer(shared_file("stories260K"));
  std::ifstream in(shared_file("stories260K/sample.txt"));
  const std::string sample((std::istreambuf_iterator<char>(in)), {});
  Document document;
  document.ids = {1};
  while (document.ids.size() < 257) {
    const Matrix32 last = model_pass(model, document, {}, {.final_states = true});
    const Matrix32 scores = tied_scores(model, last.bottomRows(1));
    document.ids.push_back(static_cast<std::int32_t>(best_word(scores, 0)));
  }
  const std::vector<std::int32_t> continued(document.ids.begin() + 1, document.ids.end());
  CHECK(tokenizer->encode(sample) == continued);
}

TEST_CASE("gpt-nano-sort gives its third-party activations") {
  NEEDS_SHARED("gpt-nano-sort/reference.h5");
  const Model model = open_model(shared_file("gpt-nano-sort"));
  const Hdf5File file(shared_file("gpt-nano-sort/reference.h5"));
  const std::vector<std::int32_t> ids = ids_of(file.doubles("input_ids"));
  const Reference upstream(file, "upstream/layer_0/softmax");
  const Reference final_states(file, "upstream/ln_f");
  for (Index batch = 0; batch < 3; ++batch) {
    Document document;
    document.ids.assign(ids.begin() + 11 * batch, ids.begin() + 11 * (batch + 1));
    KeptPass kept;
    const std::array<Probe*, 1> probes{&kept};
    const Matrix32 last = model_pass(model, document, probes, {.final_states = true});
    const std::vector<Matrix32>& weights = kept.weights[AttentionKind::causal];
    for (Index h = 0; h < 3; ++h)
      CHECK(largest_difference(weights[static_cast<std::size_t>(h)], upstream.piece(3 * batch + h)) <= 1e-5);
    for (Index layer = 0; layer < 3; ++layer) {
      const std::string at = "numpy/layer_" + std::to_string(layer);
      const Reference softmax(file, at + "/softmax"), input(file, at + "/ln_1");
      for (Index h = 0; h < 3; ++h)
        CHECK(largest_difference(weights[static_cast<std::size_t>(3 * layer + h)], softmax.piece(3 * batch + h)) <=
              1e-5);
      const MatrixView expected = input.piece(batch);
      CHECK(largest_difference(kept.states[AttentionKind::causal][static_cast<std::size_t>(layer)], expected) <=
            1e-4 * root_mean_square(expected));
    }
    CHECK(largest_difference(last, final_states.piece(batch)) <= 1e-4 * root_mean_square(final_states.piece(batch)));
  }
}

TEST_CASE("the aren transliteration model, by its map, gives its reference in all three kinds of attention") {
  NEEDS_SHARED("aren-transliteration/reference.h5");
  const Model model = open_model({shared_file("aren-transliteration"), repository_file("tests/golden/maps/aren.toml")});
  const Hdf5File file(shared_file("aren-transliteration/reference.h5"));
  for (const std::string at : {"case_0/", "case_1/"}) {
    CAPTURE(at);
    Document document;
    document.ids = ids_of(file.doubles(at + "source_ids"));
    document.target.ids = ids_of(file.doubles(at + "decoder_input_ids"));
    KeptPass kept;
    const std::array<Probe*, 1> probes{&kept};
    (void)model_pass(model, document, probes);
    const auto check = [&](AttentionKind kind, const std::string& weights, const std::string& inputs) {
      const Reference expected(file, at + weights), states(file, at + inputs);
      REQUIRE(kept.weights[kind].size() == 48);
      for (std::size_t h = 0; h < 48; ++h)
        CHECK(largest_difference(kept.weights[kind][h], expected.piece(static_cast<Index>(h))) <= 1e-5);
      for (Index l = 0; l < 6; ++l)
        CHECK(largest_difference(kept.states[kind][static_cast<std::size_t>(l)], states.piece(l)) <=
              1e-4 * root_mean_square(states.piece(l)));
    };
    check(AttentionKind::self, "encoder/self_attention", "encoder/attention_input");
    check(AttentionKind::causal, "decoder/self_attention", "decoder/self_attention_input");
    check(AttentionKind::cross, "decoder/cross_attention", "decoder/cross_attention_input");
  }
}

TEST_CASE("a partial GPT-2 is refused with the tensors that are missing, and what it has is listed") {
  NEEDS_SHARED("gpt2-small-attention/config.json");
  CHECK_THROWS_WITH(open_model(shared_file("gpt2-small-attention")),
                    ContainsSubstring("no tensor 'transformer.wte.weight'") && ContainsSubstring("more problems"));
  const ModelCheck check = model_check(shared_file("gpt2-small-attention"));
  CHECK(check.map.family == "gpt2");
  // wte, ln_f (2), and of 12 layers: all 12 tensors but layers 0 and 1, which have ln_1 and c_attn.
  CHECK(check.problems.size() == 3 + 12 * 12 - 2 * 4);
}

TEST_CASE("every config of the malformed collection is read or refused as it should be") {
  NEEDS_SHARED("malformed/manifest.tsv");
  NEEDS_SHARED("stories260K/model.safetensors");
  const TemporaryFolder folder;
  std::filesystem::copy_file(shared_file("stories260K/model.safetensors"), folder / "model.safetensors");
  std::ifstream manifest(shared_file("malformed/manifest.tsv"));
  int cases = 0;
  for (std::string line; std::getline(manifest, line);) {
    std::istringstream cells(line);
    std::string file, kind, expected;
    std::getline(cells, file, '\t');
    std::getline(cells, kind, '\t');
    std::getline(cells, expected, '\t');
    if (kind != "config.json") continue;
    ++cases;
    std::filesystem::copy_file(shared_file("malformed/" + file), folder / "config.json",
                               std::filesystem::copy_options::overwrite_existing);
    std::string problem;
    try {
      open_model(folder.path());
    } catch (const Error& error) {
      problem = error.what();
    }
    INFO(file << " is " << expected << ", came: " << (problem.empty() ? "read" : problem));
    if (expected == "valid") CHECK(problem.empty());
    if (expected == "reject") CHECK_FALSE(problem.empty());
    CHECK(problem.find('\n') == std::string::npos);
    if (!problem.empty()) CHECK(problem.find(folder.path().string()) != std::string::npos);
  }
  CHECK(cases >= 50);
}

TEST_CASE("real position tables that were trained all over have no untrained rows, nor has any beginning of them") {
  NEEDS_SHARED("gpt2-small-attention/model.safetensors");
  NEEDS_SHARED("minilm-positions/model-partial.safetensors");
  NEEDS_SHARED("gpt-nano-sort/model.safetensors");
  const auto all_trained = [](const Matrix32& table) {
    for (Index rows = 1; rows < table.rows(); rows += 1 + rows / 16)
      CHECK(trained_rows(Matrix32(table.topRows(rows))).all());
    CHECK(trained_rows(table).all());
  };
  all_trained(position_table(shared_file("gpt2-small-attention")));
  all_trained(position_table(shared_file("gpt-nano-sort")));
  all_trained(position_table(shared_file("minilm-positions/model-partial.safetensors")));
}
