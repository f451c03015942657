#include <array>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "../../core/attention/position_term.h"
#include "../../core/model/model_pass.h"
#include "../../core/model/prediction.h"
#include "../../data/arrays/safetensors.h"
#include "../../data/models/families.h"
#include "../../data/models/model_directory.h"
#include "../catch.h"
#include "edited_model.h"
#include "kept_pass.h"
#include "tensor_in.h"
#include "test_files.h"

using namespace headwave;

namespace {

/// What transformers computed: arrays by name, cut along their first axes.
class Expected {
 public:
  explicit Expected(const std::filesystem::path& folder) : file_(folder / "expected.safetensors") {}

  [[nodiscard]] bool has(const std::string& name) const { return tensor_in(file_, name) != nullptr; }

  [[nodiscard]] std::vector<std::int32_t> ids(const std::string& name) const {
    const TensorInfo& info = *tensor_in(file_, name);
    std::vector<std::int32_t> ids(static_cast<std::size_t>(info.size()));
    std::memcpy(ids.data(), file_.bytes(info).data(), file_.bytes(info).size());
    return ids;
  }

  /// An array of at least two axes as matrices of its last two.
  [[nodiscard]] std::vector<MatrixView32> matrices(const std::string& name) const {
    const TensorInfo* info = tensor_in(file_, name);
    REQUIRE(info != nullptr);
    const Index rows = info->shape.size() < 2 ? 1 : info->shape[info->shape.size() - 2];
    const Index cols = info->shape.back();
    const auto* values = reinterpret_cast<const float*>(file_.bytes(*info).data());
    std::vector<MatrixView32> result;
    for (Index at = 0; at < info->size(); at += rows * cols) result.emplace_back(values + at, rows, cols);
    return result;
  }

 private:
  SafetensorsFile file_;
};

/// The largest differences of one family, for docs/families.md.
struct Largest {
  double weights = 0, states = 0;  ///< the latter in units of the expected rms
};

Largest& largest() {
  static Largest one;
  return one;
}

double rms(const MatrixView32& states) {
  return std::sqrt(states.cast<double>().squaredNorm() / static_cast<double>(states.size()));
}

void check_weights(const std::vector<Matrix32>& came, const std::vector<MatrixView32>& expected) {
  REQUIRE(came.size() == expected.size());
  float spread = 0;
  for (std::size_t h = 0; h < came.size(); ++h) {
    CAPTURE(h);
    const float apart = (came[h] - expected[h]).cwiseAbs().maxCoeff();
    CHECK(apart <= 1e-5F);
    largest().weights = std::max<double>(largest().weights, apart);
    spread = std::max(spread, expected[h].maxCoeff() - expected[h].minCoeff());
  }
  CHECK(spread > 0.1F);  // not uniform, or agreeing would mean little
}

void check_states(const Matrix32& came, const MatrixView32& expected) {
  REQUIRE(came.rows() == expected.rows());
  REQUIRE(came.cols() == expected.cols());
  const double apart = (came - expected).cwiseAbs().maxCoeff() / rms(expected);
  CHECK(apart <= 1e-4);
  largest().states = std::max(largest().states, apart);
}

void check_inputs(const std::vector<Matrix32>& came, const std::vector<MatrixView32>& expected) {
  REQUIRE(came.size() == expected.size());
  for (std::size_t l = 0; l < came.size(); ++l) check_states(came[l], expected[l]);
}

void check_rotary(const Model& model, const Expected& expected, const std::string& at, Index length) {
  const RotaryTerm* rotary = model.stack.rotary();
  REQUIRE(rotary != nullptr);
  const Vector f = rotary->frequency(length);
  const MatrixView32 f_expected = expected.matrices(at + "inv_freq").front();
  REQUIRE(f.size() == f_expected.cols());
  // Stored in float32, computed with a float32 power.
  for (Index m = 0; m < f.size(); ++m) CHECK(f[m] == Approx(f_expected(0, m)).epsilon(4e-6));
  CHECK(rotary->options().attention_factor == Approx(expected.matrices(at + "rope_factor").front()(0, 0)));
}

/// The stored bias (heads, T', T) is Toeplitz up to a shift of rows, and the kernel is its diagonals.
void check_kernel(const ScoreBias& term, const std::vector<MatrixView32>& bias, bool causal) {
  for (std::size_t h = 0; h < bias.size(); ++h) {
    const Index reach = bias[h].rows() - 1;
    const Vector kernel = term.kernel(static_cast<Index>(h), reach);
    for (Index i = 0; i <= reach; ++i)
      for (Index j = 0; j <= (causal ? i : reach); ++j)
        CHECK(kernel[j - i + reach] - kernel[reach] ==
              Approx(bias[h](i, j) - bias[h](i, i)).margin(1e-6 * (1 + std::abs(kernel[j - i + reach]))));
  }
}

void check_logits(const Model& model, const Matrix32& last, const Expected& expected, const std::string& at) {
  if (!model.read_prediction) {
    CHECK_FALSE(model.stack.block.causal);  // what predicts words is asked for of causal models
    return;
  }
  check_states(logits(*model.read_prediction(), last), expected.matrices(at + "logits").front());
}

void check_single(const Model& model, const Expected& expected, const std::string& at) {
  Document document;
  document.ids = expected.ids(at + "ids");
  KeptPass kept;
  const std::array<Probe*, 1> probes{&kept};
  const Matrix32 last = model_pass(model, document, probes, {.final_states = true});
  const AttentionKind kind = model.stack.block.causal ? AttentionKind::causal : AttentionKind::self;
  check_weights(kept.weights[kind], expected.matrices(at + "attentions"));
  check_inputs(kept.states[kind], expected.matrices(at + "attention_input"));
  check_states(last, expected.matrices(at + "hidden_states").back());
  check_logits(model, last, expected, at);
  if (expected.has(at + "inv_freq")) check_rotary(model, expected, at, document.length());
  if (expected.has(at + "position_bias"))
    check_kernel(*model.stack.position_term.added, expected.matrices(at + "position_bias"), model.stack.block.causal);
}

void check_pair(const Model& model, const Expected& expected, const std::string& at) {
  Document document;
  document.ids = expected.ids(at + "ids");
  document.target.ids = expected.ids(at + "decoder_ids");
  KeptPass kept;
  const std::array<Probe*, 1> probes{&kept};
  const Matrix32 last = model_pass(model, document, probes, {.final_states = true});
  check_weights(kept.weights[AttentionKind::self], expected.matrices(at + "encoder_attentions"));
  check_weights(kept.weights[AttentionKind::causal], expected.matrices(at + "decoder_attentions"));
  check_weights(kept.weights[AttentionKind::cross], expected.matrices(at + "cross_attentions"));
  check_inputs(kept.states[AttentionKind::self], expected.matrices(at + "encoder_attention_input"));
  check_inputs(kept.states[AttentionKind::causal], expected.matrices(at + "decoder_attention_input"));
  check_inputs(kept.states[AttentionKind::cross], expected.matrices(at + "cross_attention_input"));
  check_states(last, expected.matrices(at + "decoder_hidden_states").back());
  check_logits(model, last, expected, at);
  if (expected.has(at + "encoder_position_bias")) {
    check_kernel(*model.stack.position_term.added, expected.matrices(at + "encoder_position_bias"), false);
    check_kernel(*model.decoder->position_term.added, expected.matrices(at + "decoder_position_bias"), true);
  }
}

void check_family(const std::string& name, const Model& model) {
  const Expected expected(family(name));
  int cases = 0;
  largest() = {};
  for (const std::string at : {"short.", "full.", "padded."}) {
    if (!expected.has(at + "ids")) continue;
    CAPTURE(name, at);
    model.decoder ? check_pair(model, expected, at) : check_single(model, expected, at);
    ++cases;
  }
  CHECK(cases >= 2);
  // What tests/golden/make_families_page.py makes a table of.
  if (const char* log = std::getenv("HEADWAVE_FAMILIES_LOG"))
    std::ofstream(log, std::ios::app) << name << ' ' << largest().weights << ' ' << largest().states << '\n';
}

/// The goldens of models that read tokens.
std::vector<std::string> families_of_text() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(repository_file("tests/golden/families"))) {
    if (!entry.is_directory() || !Expected(entry.path()).has("full.ids")) continue;
    names.push_back(entry.path().filename().string());
  }
  REQUIRE(names.size() > 70);
  std::ranges::sort(names);
  return names;
}

/// The model of a family with config_legacy.json in the place of config.json.
Model legacy_model(const std::string& name) {
  const TemporaryFolder folder;
  copy_model(family(name), folder / "model");
  std::filesystem::rename(folder / "model/config_legacy.json", folder / "model/config.json");
  return open_model(folder / "model");
}

}  // namespace

TEST_CASE("every family computes what transformers computes") {
  for (const std::string& name : families_of_text()) check_family(name, open_model(family(name)));
}

TEST_CASE("BERT and RoBERTa predict words where the checkpoint does, encoders alone do not") {
  for (const char* name : {"bert-mlm", "roberta-mlm"}) CHECK(open_model(family(name)).read_prediction);
  CHECK_FALSE(open_model(repository_file("tests/golden/models/bert")).read_prediction);
}

TEST_CASE("configs of before transformers 5 say the same") {
  for (const std::string& name : families_of_text())
    if (std::filesystem::exists(family(name) / "config_legacy.json")) check_family(name, legacy_model(name));
}

TEST_CASE("a DeBERTa without a position table reads documents beyond max_position_embeddings, as transformers does") {
  for (const std::string name : {"deberta-beyond", "deberta-v2-beyond"}) {
    CHECK(open_model(family(name)).longest == 0);
  }
  // With a table nothing is beyond it.
  CHECK(open_model(family("deberta-v2")).longest == 24);
}

TEST_CASE("layers differ in how far they look and what turns them") {
  const Model gemma = open_model(family("gemma3"));
  CHECK(gemma.stack.window(0) == 5);
  CHECK(gemma.stack.window(1) == 0);
  CHECK(gemma.stack.rotary(0)->options().base == 60);
  CHECK(gemma.stack.rotary(1)->options().base == 700);
  CHECK(gemma.stack.normalises_heads());
  const Model smol = open_model(family("smollm3"));
  CHECK(smol.stack.rotary(0) != nullptr);
  CHECK(smol.stack.rotary(1) == nullptr);
  CHECK_FALSE(smol.stack.normalises_heads());
}

TEST_CASE("a document with ESM's mask is refused, since it changes how the model scales its words") {
  const Model model = open_model(family("esm"));
  Document document;
  document.name = "proteins.txt: document 1";
  document.ids = {5, 59, 6};
  CHECK_THROWS_WITH(model_pass(model, document, {}, {}),
                    ContainsSubstring("proteins.txt: document 1: token 1 has id 59") &&
                        ContainsSubstring("give documents without masks"));
}

TEST_CASE("a rotary scaling that is not known is refused by name") {
  const TemporaryFolder folder;
  const auto model = folder / "model";
  copy_model(family("llama"), model);
  std::filesystem::rename(model / "config_legacy.json", model / "config.json");
  replace_in(model / "config.json", "\"rope_scaling\": null", R"("rope_scaling": {"type": "spiral", "factor": 2.0})");
  CHECK_THROWS_WITH(open_model(model), ContainsSubstring("config.json: rope_scaling: rope type 'spiral' is not known; "
                                                         "expected default, linear, dynamic"));
}

TEST_CASE("settings of a known family that change the numbers and are not followed are refused by name") {
  const TemporaryFolder folder;
  const auto edited = [&](const std::string& name, const std::string& more) {
    static int number = 0;
    const auto model = folder / std::to_string(number++);
    copy_model(family(name), model);
    replace_in(model / "config.json", "{", "{" + more + ",");
    return model;
  };
  for (const std::string name : {"gpt2", "bloom", "llama", "mistral", "qwen2", "t5", "bart", "marian"}) {
    CAPTURE(name);
    CHECK_THROWS_WITH(open_model(edited(name, R"("is_causal": false)")), ContainsSubstring("'is_causal' is false"));
    CHECK_NOTHROW(open_model(edited(name, R"("is_causal": true)")));
  }
  const auto refused = [&](const std::string& name, const std::string& more, const std::string& why) {
    CAPTURE(name, more);
    CHECK_THROWS_WITH(open_model(edited(name, more)), ContainsSubstring(why));
  };
  refused("llama", R"("quantization_config": {"bits": 4})", "'quantization_config' says that weights are quantised");
  refused("gemma", R"("use_bidirectional_attention": true)", "'use_bidirectional_attention' is true");
  refused("llama", R"("partial_rotary_factor": 0.5)", "'partial_rotary_factor' is 0.5");
  const auto replaced = [&](const std::string& name, const std::string& from, const std::string& to,
                            const std::string& why) {
    CAPTURE(name, to);
    const auto model = folder / (name + "-replaced");
    copy_model(family(name), model);
    replace_in(model / "config.json", from, to);
    CHECK_THROWS_WITH(open_model(model), ContainsSubstring(why));
    std::filesystem::remove_all(model);
  };
  replaced("opt", "\"word_embed_proj_dim\": 24", "\"word_embed_proj_dim\": 12", "'word_embed_proj_dim' is 12");
  replaced("opt", "\"layer_norm_elementwise_affine\": true", "\"layer_norm_elementwise_affine\": false",
           "'layer_norm_elementwise_affine' is false");
  replaced("albert", "\"num_hidden_groups\": 1", "\"num_hidden_groups\": 3", "'num_hidden_groups' is 3");
  replaced("albert", "\"inner_group_num\": 1", "\"inner_group_num\": 2", "'inner_group_num' is 2");
  replaced("phi3", "\"rope_type\": \"default\"", "\"rope_type\": \"spiral\"", "rope type 'spiral' is not known");
  refused("qwen2", R"("layer_types": ["full_attention", "sliding_attention"])", "'use_sliding_window' is false");
  replaced("qwen3", "\"full_attention\"", "\"sliding_attention\"", "'use_sliding_window' is false");
  replaced("gptj", "\"rotary_dim\": 4", "\"rotary_dim\": 5", "'channels' of rotary positions must be even");
  const auto untied = folder / "untied";
  copy_model(family("bart"), untied);
  replace_in(untied / "config.json", "\"tie_word_embeddings\": true", "\"tie_word_embeddings\": false");
  CHECK_THROWS_WITH(open_model(untied), ContainsSubstring("'tie_word_embeddings' is false"));
  CHECK_THROWS_WITH(open_model(edited("llama-rope-yarn", R"("rope_scaling": {"type": "linear", "factor": 2.0})")),
                    ContainsSubstring("both 'rope_parameters' and 'rope_scaling'"));
  CHECK_THROWS_WITH(open_model(edited("llama-rope-yarn", R"("original_max_position_embeddings": 17)")),
                    ContainsSubstring("'original_max_position_embeddings' is 17 here, but 64"));
}

TEST_CASE("a Mistral that does not say how far back it looks takes what the published code takes: 4096") {
  const TemporaryFolder folder;
  copy_model(family("mistral"), folder / "model");
  const std::string key = "\"sliding_window\": " + std::to_string(model_map(folder / "model").stack.block.window);
  replace_in(folder / "model/config.json", key, "\"sliding_window\": null");
  CHECK(model_map(folder / "model").stack.block.window == 0);
  replace_in(folder / "model/config.json", "\"sliding_window\": null", "\"another\": null");
  CHECK(model_map(folder / "model").stack.block.window == 4096);
}

TEST_CASE("the original Transformer, post-norm and pre-norm, computes what PyTorch's own computes") {
  for (const std::string place : {"post", "pre"}) {
    CAPTURE(place);
    const auto folder = repository_file("tests/golden/transformer/" + place);
    const Model model = open_model({folder / "model.safetensors", folder / "map.toml"});
    const Expected expected(folder);
    Document document;
    document.ids = expected.ids("source");
    document.target.ids = expected.ids("target");
    KeptPass kept;
    const std::array<Probe*, 1> probes{&kept};
    const Matrix32 last = model_pass(model, document, probes, {.final_states = true});
    check_weights(kept.weights[AttentionKind::self], expected.matrices("encoder_attentions"));
    check_weights(kept.weights[AttentionKind::causal], expected.matrices("decoder_attentions"));
    check_weights(kept.weights[AttentionKind::cross], expected.matrices("cross_attentions"));
    check_states(last, expected.matrices("last").front());
  }
}
