#include "head_effect.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include "../../core/algebra/product.h"
#include "../../core/attention/probe.h"
#include "../../core/fields/fields.h"
#include "../../core/model/layer.h"
#include "../../core/model/model_pass.h"
#include "../../core/model/prediction.h"
#include "../../core/numbers/random.h"
#include "../../core/process/threads.h"
#include "../pass/analysis.h"
#include "../pass/even_spread.h"
#include "../statistics/false_discovery.h"
#include "../statistics/quantile.h"

namespace headwave {

namespace {

constexpr Index most_documents = 32;
constexpr double coverage_of_effects = 0.95;
constexpr const char* few_documents = "fewer than 3 documents";

/// What a model does without each of its heads. Rows are heads, columns documents.
struct HeadEffects {
  Index vocabulary = 0;         ///< tokens that the model predicts; 0: there is no loss
  Vector base_loss;             ///< (documents) nat, of the model as it is; NaN: there is none
  Matrix loss, loss_placebo;    ///< (rows, documents) nat, (2); NaN: there is none
  Matrix state, state_placebo;  ///< (rows, documents) (3)
};

/// Keeps the outputs of all heads, and what attention adds.
class HeadOutputs : public Probe {
 public:
  explicit HeadOutputs(Index layers) : outputs(static_cast<std::size_t>(layers)), added(outputs) {}
  using Probe::see;
  [[nodiscard]] bool wants_values() const override { return true; }
  void see(const LayerHeads& heads) override { outputs[static_cast<std::size_t>(heads.layer)] = heads.outputs; }
  void see(const StreamAddition& addition) override {
    if (addition.sublayer == Sublayer::attention) added[static_cast<std::size_t>(addition.layer)] = addition.added;
  }
  void see(const Tile& /*tile*/) override {}

  std::vector<Matrix32> outputs;  ///< [layer] (T, heads * d_value)
  std::vector<Matrix32> added;    ///< [layer] (T, d_model)
};

/// Sums of the outputs of all heads, over documents.
struct OutputSums {
  std::vector<Matrix> sum;  ///< [layer] (T of the longest document, heads * d_value)
  Vector documents;         ///< (T) how many reach a place

  OutputSums(const Stack& stack, Index longest) : documents(Vector::Zero(longest)) {
    for (const Block& block : stack.blocks) sum.push_back(Matrix::Zero(longest, block.self.output.weight.cols()));
  }

  void add(const std::vector<Matrix32>& outputs) {
    const Index rows = outputs.front().rows();
    for (std::size_t layer = 0; layer < outputs.size(); ++layer)
      sum[layer].topRows(rows) += outputs[layer].cast<double>();
    documents.head(rows).array() += 1;
  }

  /// Equation (1) less the output as it is, for some columns.
  [[nodiscard]] Matrix32 change(const Matrix32& outputs, std::size_t layer, Index first, Index width) const {
    const Matrix own = outputs.middleCols(first, width).cast<double>();
    const auto all = sum[layer].middleCols(first, width);
    const double others = documents.sum() - static_cast<double>(own.rows());
    const Eigen::RowVectorXd of_all = (all.colwise().sum() - own.colwise().sum()) / others;
    Matrix mean(own.rows(), width);
    for (Index i = 0; i < own.rows(); ++i)
      if (documents[i] > 1)
        mean.row(i) = (all.row(i) - own.row(i)) / (documents[i] - 1);
      else
        mean.row(i) = of_all;
    return (mean - own).cast<float>();
  }
};

/// Rows of random directions with the norms of other rows.
Matrix32 random_rows(const Matrix32& like, Random random) {
  Matrix32 rows(like.rows(), like.cols());
  for (Index i = 0; i < rows.rows(); ++i) {
    for (Index c = 0; c < rows.cols(); ++c) rows(i, c) = static_cast<float>(random.normal());
    rows.row(i) *= like.row(i).norm() / rows.row(i).norm();
  }
  return rows;
}

/// Equation (3).
double state_change(const Matrix32& changed, const Matrix32& before) {
  double sum = 0;
  for (Index i = 0; i < before.rows(); ++i) {
    const double norm = before.row(i).cast<double>().norm();
    sum += norm > 0 ? (changed.row(i) - before.row(i)).cast<double>().norm() / norm : 0;
  }
  return sum / static_cast<double>(before.rows());
}

/// One document without each head in turn: fills column `d` of the effects.
/// @param prediction  null: there is no loss
void change_document(const Model& model, const HeadGrid& grid, const PredictionHead* prediction,
                     const Document& document, Index d, const OutputSums& sums, Random random, HeadEffects& effects) {
  const auto loss = [&](const Matrix32& final) {
    return prediction == nullptr ? not_defined : next_token_loss(*prediction, final, document.ids);
  };
  HeadOutputs probe(model.stack.layers());
  const std::array<Probe*, 1> probes{&probe};
  const std::vector<Matrix32> states = block_states(model, document, probes);
  Matrix32 before = states.back();
  normalise(before, model.stack.final_norm);
  effects.base_loss[d] = loss(before);
  for (Index row = 0; row < grid.rows(); ++row) {
    stop_if_asked();
    const auto layer = static_cast<std::size_t>(grid.layers[static_cast<std::size_t>(row / grid.heads)]);
    const MatrixView32 output = model.stack.blocks[layer].self.output.weight;
    const Index width = output.cols() / grid.heads, first = row % grid.heads * width;
    const auto measure = [&](const Matrix32& change, Matrix& losses, Matrix& changes) {
      Matrix32 added = probe.added[layer];
      multiply_add(added, change, MatrixView32(output.middleCols(first, width)).transpose());
      const Matrix32 after = resumed_pass(model, static_cast<Index>(layer), states[layer], added);
      losses(row, d) = loss(after) - effects.base_loss[d];
      changes(row, d) = state_change(after, before);
    };
    const Matrix32 change = sums.change(probe.outputs[layer], layer, first, width);
    measure(change, effects.loss, effects.state);
    measure(random_rows(change, random.stream(static_cast<std::uint64_t>(row))), effects.loss_placebo,
            effects.state_placebo);
  }
}

/// Documents of two or more tokens.
std::vector<Index> longer_documents(const Source& source) {
  std::vector<Index> longer;
  for (Index i = 0; i < source.count(); ++i)
    if (source.length(i) > 1) longer.push_back(i);
  return longer;
}

}  // namespace

std::vector<Document> documents_to_change(const Source& source, Index most) {
  const std::vector<Index> longer = longer_documents(source);
  const Index count = std::ssize(longer);
  std::vector<Document> documents;
  for (Index n = 0; n < count; ++n)
    if (is_spread(n, std::min(most, count), count))
      documents.push_back(source.ids_alone(longer[static_cast<std::size_t>(n)]));
  return documents;
}

std::string no_head_effects(const Model& model, const Source& source) {
  if (model.decoder)
    return fmt::format("a {} has an encoder and a decoder; only models of one stack are rerun", model.family);
  if (model.stack.embedding.words.empty() || !source.ids_alone(0).stored.empty())
    return "states, or queries and keys, are stored; the model cannot be run on them again";
  if (model.by_layer()) return "weights are read layer by layer, and every head would read them again";
  if (model.stack.blocks.front().self.output.empty()) return "the output projection of heads is not known";
  if (longer_documents(source).size() < 2)
    return "the mean of a head's output over other documents needs two documents of two or more tokens";
  return {};
}

PairedMeans paired_means(const Matrix& differences, double coverage) {
  const Index n = differences.cols();
  PairedMeans means;
  means.mean = differences.rowwise().mean();
  means.lower = means.upper = means.p_value = Vector::Constant(differences.rows(), not_defined);
  if (n < 3) return means;
  for (Index row = 0; row < differences.rows(); ++row) {
    const Vector own = differences.row(row).transpose();
    if (!own.allFinite()) continue;
    const double mean = means.mean[row];
    // The means without one document each are (n mean - x) / (n - 1), and spread as s / sqrt(n).
    const Vector left = (static_cast<double>(n) * mean - own.array()) / static_cast<double>(n - 1);
    const double half = jackknife_error(left, coverage);
    means.lower[row] = mean - half;
    means.upper[row] = mean + half;
    const double error = std::sqrt((own.array() - mean).square().sum() / static_cast<double>(n * (n - 1)));
    if (mean == 0)
      means.p_value[row] = 1;
    else
      means.p_value[row] =
          error > 0 ? std::min(1.0, 2 * student_tail(std::abs(mean) / error, static_cast<double>(n - 1))) : 0;
  }
  return means;
}

Vector chance_to_matter(const Matrix& changes, const Matrix& placebo, bool is_norm) {
  const PairedMeans own = paired_means(changes, coverage_of_effects),
                    beyond = paired_means(changes - placebo, coverage_of_effects);
  Vector p = beyond.p_value;
  for (Index row = 0; row < p.size(); ++row)
    if (std::isnan(own.p_value[row]))
      p[row] = not_defined;
    else if (own.mean[row] * beyond.mean[row] <= 0)
      p[row] = 1;
    else if (!is_norm)
      p[row] = std::max(p[row], own.p_value[row]);
  return p;
}

namespace {

HeadEffects head_effects(const AnalysisInput& input) {
  const Model& model = input.model;
  const std::vector<Document> documents = documents_to_change(*input.source, most_documents);
  const Index count = std::ssize(documents);
  std::shared_ptr<const PredictionHead> prediction;
  if (model.stack.block.causal && model.read_prediction) prediction = model.read_prediction();
  OutputSums sums(model.stack, std::ranges::max(documents, {}, &Document::length).length());
  parallel_in_order(count, input.threads, [&](Index d) -> std::function<void()> {
    auto probe = std::make_shared<HeadOutputs>(model.stack.layers());
    const std::array<Probe*, 1> probes{probe.get()};
    (void)block_states(model, documents[static_cast<std::size_t>(d)], probes);
    return [&sums, probe] { sums.add(probe->outputs); };
  });
  const Matrix none = Matrix::Constant(input.site.grid.rows(), count, not_defined);
  const Index vocabulary = prediction ? prediction->words.weight.rows() : 0;
  HeadEffects effects{vocabulary, Vector::Constant(count, not_defined), none, none, none, none};
  parallel_for(count, input.threads, [&](Index d) {
    change_document(model, input.site.grid, prediction.get(), documents[static_cast<std::size_t>(d)], d, sums,
                    Random(input.options.seed).stream(static_cast<std::uint64_t>(d)), effects);
  });
  return effects;
}

class HeadEffectAnalysis : public Analysis {
 public:
  using Analysis::Analysis;

  [[nodiscard]] std::vector<Field> finish(Finished& /*finished*/) override {
    Fields fields("head_effect");
    if (const std::string why = no_head_effects(input().model, *input().source); !why.empty()) {
      fields.absent("state", "1", "relative change of the final state without the head", why);
      return fields.taken();
    }
    const HeadEffects effects = head_effects(input());
    const bool has_loss = effects.vocabulary > 0;
    const std::vector<Axis> heads{layer_axis(site().grid.layers), head_axis(site().grid.heads)};
    const auto add = [&](const std::string& name, const char* unit, const std::string& long_name, const Matrix& all) {
      const PairedMeans means = paired_means(all, coverage_of_effects);
      fields.add(name, heads, unit, long_name, means.mean);
      fields.add(name + "_lower", heads, unit, "lower end of the 95 % interval of " + name + " over documents",
                 means.lower, few_documents);
      fields.add(name + "_upper", heads, unit, "upper end of the 95 % interval of " + name + " over documents",
                 means.upper, few_documents);
    };
    if (has_loss) {
      add("loss", "nat", "loss without the head minus the loss with it", effects.loss);
      fields.add("loss_placebo", heads, "nat",
                 "change of the loss under a random change of the head's output, as large at every token",
                 Vector(effects.loss_placebo.rowwise().mean()));
      fields.add("model_loss", {}, "nat", "mean cross-entropy of the next token of the model as it is",
                 effects.base_loss.mean());
      fields.note("uniform_loss", std::log(static_cast<double>(effects.vocabulary)));
    }
    add("state", "1", "relative change of the final state without the head", effects.state);
    fields.add("state_placebo", heads, "1",
               "relative change of the final state under a random change of the head's output, as large at every token",
               Vector(effects.state_placebo.rowwise().mean()));
    fields.add(
        "q_value", heads, "1",
        "rate of false discoveries if heads up to this one are said to change the loss (without a loss: the final "
        "state) more than the placebo does",
        q_values(has_loss ? chance_to_matter(effects.loss, effects.loss_placebo, false)
                          : chance_to_matter(effects.state, effects.state_placebo, true)),
        few_documents);
    fields.note_all("documents", static_cast<std::int64_t>(effects.state.cols()));
    fields.note_all("replaced_by", std::string("mean over the other documents at the same place, or over all of their "
                                               "tokens where none reaches that place"));
    if (!has_loss)
      fields.note_all("no_loss", input().stack().block.causal
                                     ? fmt::format("this {} checkpoint has no prediction head that its map describes",
                                                   input().model.family)
                                     : fmt::format("a {} does not predict the next token", input().model.family));
    return fields.taken();
  }
};

std::unique_ptr<Analysis> make_head_effect(const AnalysisInput& input) {
  return input.source == nullptr ? nullptr : std::make_unique<HeadEffectAnalysis>(input);
}

}  // namespace

extern const AnalysisKind head_effect_analysis{.name = "head_effect",
                                               .asks = "Does the head matter: what changes without it?",
                                               .one_sequence = true,
                                               .all_weights = true,
                                               .make = make_head_effect};

}  // namespace headwave
