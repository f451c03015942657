// What models do without a head: golden PyTorch, a model made by hand whose answer is known, and nothing where nothing changes.

#include "../../analysis/why/head_effect.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <memory>

#include "../../core/model/intervention.h"
#include "../../core/numbers/random.h"
#include "../../job/inputs/job_input.h"
#include "../../job/run/job.h"
#include "../analysis/golden_json.h"
#include "../catch.h"
#include "quick_options.h"
#include "same_bits.h"

using namespace headwave;

namespace {

/// What a job finds of one analysis alone.
Result found(const Model& model, const Source& source, const char* analysis, int threads = 1, std::uint64_t seed = 1,
             double fdr = 0.05) {
  JobOptions options = quick_options();
  options.only = {analysis};
  options.threads = threads;
  options.seed = seed;
  options.fdr = fdr;
  return run_job(model, source, options);
}
Result effects_of(const Model& model, const Source& source) {
  return found(model, source, "head_effect");
}

double number(const Result& result, const char* field, std::size_t row) {
  return result.at(field).doubles()[row];
}

/// @param documents  numbers of one head
double mean_of(const nlohmann::json& documents) {
  double sum = 0;
  for (const nlohmann::json& one : documents) sum += one.get<double>();
  return sum / static_cast<double>(documents.size());
}

/// As tests/golden/make_head_effect.py finds it, in PyTorch.
void check_effects_as_golden(const std::string& folder, const std::string& name) {
  const nlohmann::json golden = golden_json("head_effect.json")[name];
  const TemporaryFolder ids;
  std::ofstream(ids / "ids.json") << golden["documents"];
  const JobInput input = ids_input({folder}, {ids / "ids.json"});
  const Result effects = effects_of(input.model, *input.source);
  const auto check = [&](const char* field, const nlohmann::json& expected) {
    REQUIRE(effects.at(field).doubles().size() == expected.size());
    for (std::size_t row = 0; row < expected.size(); ++row) {
      CAPTURE(field, row);
      CHECK(number(effects, field, row) == Approx(mean_of(expected[row])).margin(1e-5));
    }
  };
  check("head_effect/state", golden["state"]);
  CHECK((effects.find("head_effect/loss") != nullptr) == golden.contains("loss"));
  if (!golden.contains("loss")) return;
  check("head_effect/loss", golden["loss"]);
  CHECK(number(effects, "head_effect/model_loss", 0) == Approx(mean_of(golden["model_loss"])).margin(1e-5));
}

JobInput random_words(const std::string& family) {
  return random_input(repository_file("tests/golden/families/" + family), {.documents = 5, .period = 10, .repeats = 2},
                      false);
}

/// Document i is word i, six times.
class EqualWords : public Source {
 public:
  explicit EqualWords(Index count = 4) : count_(count) {}
  [[nodiscard]] Index count() const override { return count_; }
  [[nodiscard]] Index length(Index /*i*/) const override { return 6; }
  [[nodiscard]] Document document(Index i) const override {
    Document document;
    document.ids.assign(6, static_cast<std::int32_t>(i));
    return document;
  }
  [[nodiscard]] Attributes provenance() const override { return {}; }

 private:
  Index count_;
};

/// A model of one layer without norms and positions. Head 0 copies the mean of all words it sees to the channels that
/// predict, 20 times as large; head 1 writes nothing.
struct CopyingModel {
  static constexpr Index words = 8, d_model = 16;
  Matrix32 embedding = Matrix32::Identity(words, d_model), value = Matrix32::Zero(2 * words, d_model),
           output = Matrix32::Zero(d_model, 2 * words), nothing = Matrix32::Zero(2 * words, d_model),
           wide = Matrix32::Zero(4, d_model), narrow = Matrix32::Zero(d_model, 4),
           predicts = Matrix32::Zero(words, d_model);
  Model model;

  CopyingModel() {
    value.topLeftCorner(words, words).setIdentity();
    value.bottomLeftCorner(words, words).setIdentity();
    output.bottomLeftCorner(words, words) = 20 * Matrix32::Identity(words, words);
    predicts.rightCols(words).setIdentity();
    model.family = "copying";
    Stack& stack = model.stack;
    stack.block.heads = stack.block.kv_heads = 2;
    stack.block.d_head = words;
    stack.block.causal = true;
    stack.block.norm_place = NormPlace::pre;
    stack.embedding.words = embedding;
    Block block;
    block.self.query.weight = block.self.key.weight = nothing;
    block.self.value.weight = value;
    block.self.output.weight = output;
    block.feed_forward.widen.weight = wide;
    block.feed_forward.narrow.weight = narrow;
    stack.blocks.push_back(block);
    auto head = std::make_shared<PredictionHead>();
    head->words.weight = predicts;
    model.read_prediction = [head] { return head; };
  }
  CopyingModel(const CopyingModel&) = delete;
};

}  // namespace

TEST_CASE("what a model does without a head is what PyTorch does, of a small Llama") {
  NEEDS_SHARED("stories260K/model.safetensors");
  check_effects_as_golden(shared_file("stories260K"), "stories260K");
}

TEST_CASE("what a model does without a head is what PyTorch does, of GPT-2, with documents of one length or several") {
  check_effects_as_golden(repository_file("tests/golden/families/gpt2"), "gpt2");
  check_effects_as_golden(repository_file("tests/golden/families/gpt2"), "gpt2, lengths differ");
}

TEST_CASE("what a model does without a head is what PyTorch does, of BERT, whose states change") {
  check_effects_as_golden(repository_file("tests/golden/families/bert-mlm"), "bert-mlm");
}

namespace {

void check_writes(const std::string& folder, const std::string& name) {
  const nlohmann::json golden = golden_json("head_effect.json")[name];
  const TemporaryFolder ids;
  std::ofstream(ids / "ids.json") << golden["documents"];
  const JobInput input = ids_input({folder}, {ids / "ids.json"});
  const Result writes = found(input.model, *input.source, "head_writes", 1, 1, 1.0);
  const auto& raised = std::get<std::vector<std::int64_t>>(writes.at("head_writes/raised_id").values);
  const std::size_t named = raised.size() / golden["copying"].size();
  for (std::size_t row = 0; row < golden["copying"].size(); ++row) {
    CAPTURE(name, row);
    CHECK(number(writes, "head_writes/copying", row) == Approx(golden["copying"][row].get<double>()).margin(1e-5));
    CHECK(number(writes, "head_writes/copying_p_value", row) ==
          Approx(golden["copying_p_value"][row].get<double>()).margin(1e-5));
    CHECK(raised[row * named] == golden["raised"][row].get<std::int64_t>());
  }
}

}  // namespace

TEST_CASE("copying scores and raised words are those of another program, of a small Llama") {
  NEEDS_SHARED("stories260K/model.safetensors");
  check_writes(shared_file("stories260K"), "stories260K");
}

TEST_CASE("copying scores and raised words are those of another program, of GPT-2") {
  check_writes(repository_file("tests/golden/families/gpt2"), "gpt2");
}

TEST_CASE("a head that copies what it attends to is found, one that writes nothing has no score") {
  const CopyingModel copying;
  const EqualWords source(8);
  const Result writes = found(copying.model, source, "head_writes");
  CHECK(std::get<std::int64_t>(writes.at("head_writes/copying").attributes.at("words")) == 8);
  CHECK(number(writes, "head_writes/copying", 0) > 2);
  CHECK(number(writes, "head_writes/copying_q_value", 0) < 0.001);
  CHECK(std::isnan(number(writes, "head_writes/copying", 1)));
  // Every document raises another word, so none is raised in all of them.
  CHECK(std::get<std::vector<std::int64_t>>(writes.at("head_writes/raised_id").values).front() == -1);
}

TEST_CASE("what heads write is undefined by name where it is no sum of logits") {
  const auto why = [](const char* family) {
    const JobInput input = random_words(family);
    const Result writes = found(input.model, *input.source, "head_writes");
    const bool all = writes.find("head_writes/raised") != nullptr;
    return all ? std::string() : attribute_text(writes.at("head_writes/copying").attributes, "undefined");
  };
  CHECK(why("bert-mlm") == "a bert transforms final states before it predicts words");
  CHECK(why("gemma2") == "a gemma2 normalises what attention adds");
  CHECK(why("opt-post") == "a opt normalises what heads add, layer by layer");
  CHECK(why("llama").empty());
}

TEST_CASE("a head that decides the prediction costs what it says, and one that writes nothing costs nothing") {
  const CopyingModel copying;
  const EqualWords source;
  const Result effects = effects_of(copying.model, source);
  // The mean of the other documents raises three other words by 20 / 3 each.
  const double without = std::log(3 * std::exp(20.0 / 3) + 5), with = std::log(1 + 7 * std::exp(-20.0));
  CHECK(number(effects, "head_effect/model_loss", 0) == Approx(with).margin(1e-6));
  CHECK(number(effects, "head_effect/loss", 0) == Approx(without - with).epsilon(1e-5));
  CHECK(number(effects, "head_effect/loss", 1) == 0);
  CHECK(number(effects, "head_effect/state", 1) == 0);
  CHECK(number(effects, "head_effect/state", 0) > 0.9);
  CHECK(number(effects, "head_effect/q_value", 0) < 0.01);
  CHECK(number(effects, "head_effect/q_value", 1) == 1);
}

TEST_CASE("a head whose output is the same everywhere, or that W_O ignores, has no effect, nor has its placebo") {
  const JobInput input = random_words("gpt2");
  const Model silent = without_heads(input.model, {{0, 1}}, AttentionKind::causal);
  const Result effects = effects_of(silent, *input.source);
  for (const char* field : {"loss", "loss_lower", "loss_upper", "state", "loss_placebo", "state_placebo"})
    CHECK(number(effects, (std::string("head_effect/") + field).c_str(), 1) == 0);
  CHECK(number(effects, "head_effect/state_lower", 0) > 0);

  ChangedModel changed(input.model);
  AttentionWeights& attention = changed.attention_of(AttentionKind::causal, 0);
  Matrix32 value = attention.value.weight;
  const Index width = value.rows() / input.model.stack.block.heads;
  value.middleRows(2 * width, width).setZero();
  attention.value.weight = changed.kept(std::move(value));
  const Model constant = changed.taken();
  const Result same = effects_of(constant, *input.source);
  CHECK(number(same, "head_effect/state", 2) < 1e-6);  // rows of attention sum to 1 but for rounding
  CHECK(number(same, "head_effect/state_placebo", 2) < 1e-6);
}

TEST_CASE("threads change no digit of what heads do, the seed changes the placebo alone") {
  const JobInput input = random_words("llama");
  const Result one = found(input.model, *input.source, "head_effect"),
               three = found(input.model, *input.source, "head_effect", 3),
               other = found(input.model, *input.source, "head_effect", 1, 2);
  check_same_bits(one.fields, three.fields);
  CHECK(one.at("head_effect/state").doubles() == other.at("head_effect/state").doubles());
  CHECK(one.at("head_effect/state_placebo").doubles() != other.at("head_effect/state_placebo").doubles());
}

TEST_CASE("intervals of paired differences are Student's") {
  const Matrix numbers = (Matrix(2, 4) << 1, 2, 3, 4, 0, 0, 0, 0).finished();
  const PairedMeans means = paired_means(numbers, 0.95);
  // scipy.stats.ttest_1samp([1, 2, 3, 4], 0): p = 0.030466, confidence_interval() = (0.445739, 4.554261)
  CHECK(means.mean[0] == 2.5);
  CHECK(means.lower[0] == Approx(0.445739743).epsilon(1e-6));
  CHECK(means.upper[0] == Approx(4.554260257).epsilon(1e-6));
  CHECK(means.p_value[0] == Approx(0.030466291).epsilon(1e-5));
  CHECK(means.p_value[1] == 1);
  CHECK(std::isnan(paired_means(numbers.leftCols(2), 0.95).lower[0]));
}

TEST_CASE("a head matters if it changes the loss, and beyond what a random change does") {
  Matrix changes(4, 5), placebo(4, 5);
  changes << 1.0, 1.2, 0.9, 1.1, 1.0,   // beyond the placebo
      1.0, 1.2, 0.9, 1.1, 1.0,          // less than the placebo
      -1.0, -1.2, -0.9, -1.1, -1.0,     // the loss falls, and the placebo's rises
      0.1, -0.1, 0.2, -0.2, 0.01;       // by chance
  placebo << 0.1, 0.2, 0.0, 0.1, 0.05,  //
      2.0, 2.1, 2.2, 1.9, 2.0,          //
      0.5, 0.4, 0.6, 0.5, 0.5,          //
      0, 0, 0, 0, 0;
  const Vector p = chance_to_matter(changes, placebo, false), beyond = paired_means(changes - placebo, 0.95).p_value;
  CHECK(p[0] == std::max(paired_means(changes, 0.95).p_value[0], beyond[0]));
  CHECK(p[0] < 0.001);
  CHECK(p[1] == 1);
  CHECK(p[2] < 0.001);
  CHECK(p[3] > 0.9);
  CHECK(chance_to_matter(changes, placebo, true)[0] == beyond[0]);
  CHECK(std::isnan(chance_to_matter(changes.leftCols(2), placebo.leftCols(2), false)[0]));

  // Heads whose effect is the placebo's, and heads without one: no more than 5 % are said to matter at a chance of 5 %.
  Random random(7);
  Matrix same(2000, 12), random_change(2000, 12);
  for (Index row = 0; row < same.rows(); ++row)
    for (Index d = 0; d < same.cols(); ++d) {
      const double mean = row % 2 == 0 ? 0 : 1;
      same(row, d) = mean + random.normal();
      random_change(row, d) = 1 + random.normal();
    }
  CHECK((chance_to_matter(same, random_change, false).array() <= 0.05).count() <= 100);
}

TEST_CASE("a job gives every head its effect, and says by name where there is none") {
  JobOptions options = quick_options();
  options.only = {"head_effect"};
  const JobInput causal = random_words("gpt2");
  const Result result = run_job(causal.model, *causal.source, options);
  CHECK(result.at("head_effect/loss").doubles().size() == 8);
  const JobInput encoder = random_words("bert-mlm");
  const Result states = run_job(encoder.model, *encoder.source, options);
  CHECK(states.find("head_effect/loss") == nullptr);
  CHECK(attribute_text(states.at("head_effect/state").attributes, "no_loss") ==
        "a bert does not predict the next token");
  const JobInput stored = states_input(repository_file("tests/golden/stored/causal.h5"));
  const Result nothing = run_job(stored.model, *stored.source, options);
  CHECK_THAT(attribute_text(nothing.at("head_effect/state").attributes, "undefined"), ContainsSubstring("are stored"));
}
