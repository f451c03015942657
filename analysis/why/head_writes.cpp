// What each head writes: whether it copies, and the words whose logits it raises and lowers.

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "../../core/algebra/product.h"
#include "../../core/attention/probe.h"
#include "../../core/fields/fields.h"
#include "../../core/model/model_pass.h"
#include "../../core/numbers/largest_entries.h"
#include "../../core/process/threads.h"
#include "../pass/analysis.h"
#include "../statistics/false_discovery.h"
#include "../statistics/moderated_test.h"
#include "attention_words.h"
#include "head_effect.h"

namespace headwave {

namespace {

// Only the direct path to the output counts, with norms held. Later layers and a soft cap are omitted.
//
// v_w is the mean value of word w's tokens in a layer, biases included. u_b is the row of word b in the
// prediction head, g the scale of the final norm, and r its mean 1 / sigma over tokens, times the factors
// that the model applies to final states and to what blocks add. Attending to w adds to the logit of b
//
//     L_wb = (v_w W_O) . r (g u_b - mean over channels of g u_b, if the norm subtracts a mean)             (1)
//
// less its mean over w, since only differences between words count.
//
//     copying = mean over w of (L_ww - mean_b L_wb) / sd_b L_wb                                           (2)
//
// is above 0 if the head raises the word that it attends to, and below 0 if it lowers it. In the null a
// random permutation pi of the n words says which word counts as w's own. With a_wb the fraction in (2) for
// every pair, the mean over w of a_{w,pi(w)} is nearly normal for many words, and has exactly
//
//     variance = 1 / (n^2 (n - 1)) sum over w, b of (a_wb - row mean - column mean + mean)^2               (3)
//
// The mean output o of the head changes the logit of b, whatever it attends to. For document d
//
//     y_db = mean over queries of (o W_O) . (as in (1)), less its mean over b                              (4)
//
// and a word is named if the mean of y over documents differs from 0 by moderated_p_values().
//
// Source: copying and the OV circuit: Elhage et al. 2021; (3): Hoeffding 1951, doi:10.1214/aoms/1177729545.

constexpr Index most_writing_documents = 16;
constexpr Index most_written_words = 1024;    // n at most: the words of the most documents
constexpr Index least_written_documents = 3;  // fewer test no word
constexpr Index words_written = 4;            // raised, and lowered, per head, at most

/// Keeps the values and mean outputs of all heads for one document.
class WritingProbe : public Probe {
 public:
  explicit WritingProbe(Index layers) : values(static_cast<std::size_t>(layers)), output(values.size()) {}
  using Probe::see;
  [[nodiscard]] bool wants_values() const override { return true; }
  void see(const LayerValues& layer) override { values[static_cast<std::size_t>(layer.layer)] = layer.values; }
  void see(const LayerHeads& heads) override {
    output[static_cast<std::size_t>(heads.layer)] = heads.outputs.cast<double>().colwise().mean().transpose();
  }
  void see(const Tile& /*tile*/) override {}

  std::vector<Matrix32> values;  ///< [layer] (T, kv_heads * d_value)
  std::vector<Vector> output;    ///< [layer] (heads * d_value)  mean over queries
};

/// Ids of the words that are compared, ascending.
std::vector<std::int32_t> compared_words(const std::vector<Document>& documents, Index vocabulary) {
  std::vector<std::vector<std::int32_t>> ids;
  std::vector<std::vector<bool>> counts;
  for (const Document& document : documents) {
    ids.push_back(document.ids);
    std::vector<bool>& of_document = counts.emplace_back();
    for (Index i = 0; i < document.length(); ++i)
      of_document.push_back(!document.is_special(i) && document.ids[static_cast<std::size_t>(i)] < vocabulary);
  }
  const NumberedWords all(ids, counts, 1);
  std::vector<std::int32_t> words;
  for (const Index word : largest_entries(
           Eigen::Map<const Eigen::Matrix<Index, Eigen::Dynamic, 1>>(all.in_documents.data(), std::ssize(all.ids))
               .cast<double>(),
           most_written_words))
    words.push_back(all.ids[static_cast<std::size_t>(word)]);
  std::ranges::sort(words);
  return words;
}

/// Mean over rows of a norm's 1 / sigma. @param states  (T, d_model)  input of the norm
double mean_inverse_scale(const Matrix32& states, const Norm& norm) {
  if (norm.empty()) return 1;
  double sum = 0;
  for (Index i = 0; i < states.rows(); ++i) {
    const Eigen::ArrayXd x = states.row(i).cast<double>().transpose().array();
    const double mean = norm.kind == NormKind::layer ? x.mean() : 0;
    sum += 1 / std::sqrt((x - mean).square().mean() + static_cast<double>(norm.eps));
  }
  return sum / static_cast<double>(states.rows());
}

/// Equations (2) and (3).
struct Copying {
  double score = not_defined, p_value = not_defined;
};

/// @param logits  (words, words)  (1); overwritten
Copying copying_of(Matrix& logits) {
  const Index n = logits.rows();
  if (n < 8) return {};
  logits.rowwise() -= logits.colwise().mean().eval();
  logits.colwise() -= logits.rowwise().mean().eval();
  const Vector sd = (logits.rowwise().squaredNorm() / static_cast<double>(n)).cwiseSqrt();
  if (!(sd.minCoeff() > 0)) return {};
  logits.array().colwise() /= sd.array();
  Copying copying{logits.diagonal().mean(), 1};
  // Rows have mean 0, so the mean over permutations is 0.
  const Eigen::RowVectorXd of_column = logits.colwise().mean();
  const double variance =
      (logits.rowwise() - of_column).squaredNorm() / (static_cast<double>(n * n) * static_cast<double>(n - 1));
  if (variance > 0) copying.p_value = std::erfc(std::abs(copying.score) / std::sqrt(2 * variance));
  return copying;
}

/// Reason why what heads write is not a sum of logits; empty if it is.
/// @param prediction  null if the model predicts no tokens
std::string no_sum_of_logits(const Model& model, const PredictionHead* prediction) {
  if (prediction == nullptr)
    return fmt::format("this {} checkpoint has no prediction head that its map describes", model.family);
  if (!prediction->transform.empty())
    return fmt::format("a {} transforms final states before it predicts words", model.family);
  if (model.stack.block.norm_place == NormPlace::post)
    return fmt::format("a {} normalises what heads add, layer by layer", model.family);
  if (!model.stack.blocks.front().self_added_norm.empty())
    return fmt::format("a {} normalises what attention adds", model.family);
  return {};
}

class HeadWritesAnalysis : public Analysis {
 public:
  using Analysis::Analysis;
  [[nodiscard]] std::vector<Field> finish(Finished& finished) override;
};

std::vector<Field> HeadWritesAnalysis::finish(Finished& /*finished*/) {
  Fields fields("head_writes");
  const char* const copies = "standard score of a word's own logit when the head attends to it, mean over words";
  const Model& model = input().model;
  std::string undefined = no_head_effects(model, *input().source);
  const auto prediction = undefined.empty() && model.read_prediction ? model.read_prediction() : nullptr;
  if (undefined.empty()) undefined = no_sum_of_logits(model, prediction.get());
  if (!undefined.empty()) return fields.absent("copying", "1", copies, undefined).taken();
  const HeadGrid& grid = site().grid;
  const Stack& stack = model.stack;
  const std::vector<Document> documents = documents_to_change(*input().source, most_writing_documents);
  const std::vector<std::int32_t> words = compared_words(documents, prediction->words.d_out());
  const Index count = std::ssize(words), layers = stack.layers();
  TokenTexts texts;

  // Mean values of words, and mean outputs of heads in each document.
  std::vector<Matrix> values(static_cast<std::size_t>(layers));
  std::vector<std::vector<Vector>> outputs;
  Vector times = Vector::Zero(count);
  double inverse_scale = 0;
  for (const Document& document : documents) {
    WritingProbe probe(layers);
    const std::array<Probe*, 1> probes{&probe};
    const std::vector<Matrix32> states = block_states(model, document, probes);
    inverse_scale += mean_inverse_scale(states.back(), stack.final_norm) / static_cast<double>(documents.size());
    for (Index i = 0; i < document.length(); ++i) {
      const auto at = static_cast<std::size_t>(i);
      const auto word = std::ranges::lower_bound(words, document.ids[at]) - words.begin();
      if (document.is_special(i) || word == count || words[static_cast<std::size_t>(word)] != document.ids[at])
        continue;
      times[word] += 1;
      for (std::size_t layer = 0; layer < values.size(); ++layer) {
        Matrix& sum = values[layer];
        if (sum.size() == 0) sum = Matrix::Zero(count, probe.values[layer].cols());
        sum.row(word) += probe.values[layer].row(i).cast<double>();
      }
    }
    outputs.push_back(std::move(probe.output));
    texts.add(document);
  }

  // Right factor of (1).
  Matrix reads(count, stack.d_model());
  for (Index w = 0; w < count; ++w) {
    Vector row = prediction->words.weight.row(words[static_cast<std::size_t>(w)]).cast<double>().transpose();
    if (!stack.final_norm.empty()) row.array() *= stack.final_norm.scale.cast<double>().array();
    if (!stack.final_norm.empty() && stack.final_norm.kind == NormKind::layer) row.array() -= row.mean();
    reads.row(w) =
        row.transpose() * (inverse_scale * static_cast<double>(prediction->state_scale * stack.block.residual_scale));
  }

  Vector copying = Vector::Constant(grid.rows(), not_defined), p_value = copying;
  std::vector<Matrix> written(static_cast<std::size_t>(grid.rows()));  // (documents, words)  (4)
  parallel_for(grid.rows(), input().threads, [&](Index row) {
    const auto layer = static_cast<std::size_t>(grid.layers[static_cast<std::size_t>(row / grid.heads)]);
    const Index head = row % grid.heads, key_head = stack.block.key_head(head);
    const MatrixView32 output = stack.blocks[layer].self.output.weight;
    const Index width = output.cols() / grid.heads;
    const Matrix reads_head = product(reads, Matrix(output.middleCols(head * width, width).cast<double>()));
    const Matrix mean = times.cwiseInverse().asDiagonal() * values[layer].middleCols(key_head * width, width);
    Matrix logits = product(mean, Matrix(reads_head.transpose()));
    const Copying own_copying = copying_of(logits);
    copying[row] = own_copying.score;
    p_value[row] = own_copying.p_value;
    Matrix& own = written[static_cast<std::size_t>(row)];
    own.resize(std::ssize(documents), count);
    for (Index d = 0; d < own.rows(); ++d) {
      const Vector y = reads_head * outputs[static_cast<std::size_t>(d)][layer].segment(head * width, width);
      own.row(d) = (y.array() - y.mean()).transpose();
    }
  });

  ItemSums sums(grid.rows() * count);
  for (Index row = 0; row < grid.rows(); ++row)
    for (Index d = 0; d < std::ssize(documents); ++d)
      for (Index w = 0; w < count; ++w) sums.add(row * count + w, written[static_cast<std::size_t>(row)](d, w));
  const Vector q = q_values(moderated_p_values(sums, {.least_documents = least_written_documents, .two_sided = true}));
  std::array<std::vector<std::vector<NamedWord>>, 2> changed;  // [raised, lowered][row]  the largest first
  changed.fill(std::vector<std::vector<NamedWord>>(static_cast<std::size_t>(grid.rows())));
  for (Index row = 0; row < grid.rows(); ++row)
    for (const double sign : {1.0, -1.0}) {
      Vector change(count);
      for (Index w = 0; w < count; ++w) change[w] = sign * sums.mean(row * count + w);
      auto& named = changed[sign > 0 ? 0 : 1][static_cast<std::size_t>(row)];
      for (const Index w : largest_entries(change, std::min(words_written, count)))
        if (change[w] > 0 && q[row * count + w] <= options().fdr)
          named.push_back({words[static_cast<std::size_t>(w)], sign * change[w], q[row * count + w]});
    }
  const Axis layer = layer_axis(site().grid.layers), head = head_axis(site().grid.heads);
  const char* const few = "fewer than 8 words, or the head writes nothing";
  fields.add("copying", {layer, head}, "1", copies, copying, few);
  fields.add("copying_p_value", {layer, head}, "1",
             "chance of a copying score as large, of either sign, if words are permuted", p_value, few);
  fields.add("copying_q_value", {layer, head}, "1", "copying_p_value adjusted for the number of heads",
             q_values(p_value), few);
  const std::vector<Axis> ranked{
      layer, head, counting_axis("written_rank", "1", "rank by the change of the logit", 0, words_written - 1)};
  for (const auto& [name, verb, words_of_head] :
       {std::tuple("raised", "raises", &changed[0]), {"lowered", "lowers", &changed[1]}})
    add_named_words(fields, ranked, *words_of_head, words_written, texts,
                    {fmt::format("{}_id", name), name, fmt::format("{}_logit", name), fmt::format("{}_q_value", name),
                     fmt::format("words whose logits the head {} most, mean over queries", verb),
                     "change of the logit against the mean of all compared words",
                     "p-value over documents, adjusted for all words of all heads", "fewer words"});
  fields.note_all("documents", std::ssize(documents)).note_all("words", count).note_all("fdr", options().fdr);
  return fields.taken();
}

std::unique_ptr<Analysis> make_head_writes(const AnalysisInput& input) {
  return input.source == nullptr ? nullptr : std::make_unique<HeadWritesAnalysis>(input);
}

}  // namespace

extern const AnalysisKind head_writes_analysis{
    .name = "head_writes",
    .asks = "What does the head write: which words does it make likelier, and does it copy?",
    .one_sequence = true,
    .all_weights = true,
    .make = make_head_writes};

}  // namespace headwave
