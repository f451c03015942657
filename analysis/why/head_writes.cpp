#include "head_writes.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <map>
#include <memory>
#include <ranges>
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
#include "attended_rows.h"
#include "head_effect.h"

namespace headwave {

namespace {

/// Keeps values and mean outputs of all heads.
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

/// The words that are compared, ascending.
std::vector<std::int32_t> compared_words(const std::vector<Document>& documents, Index vocabulary, Index most) {
  std::map<std::int32_t, Index> in_documents;
  for (const Document& document : documents) {
    std::vector<std::int32_t> here;
    for (Index i = 0; i < document.length(); ++i)
      if (const std::int32_t id = document.ids[static_cast<std::size_t>(i)]; !document.is_special(i) && id < vocabulary)
        here.push_back(id);
    std::ranges::sort(here);
    here.erase(std::ranges::unique(here).begin(), here.end());
    for (const std::int32_t id : here) ++in_documents[id];
  }
  std::vector<std::pair<Index, std::int32_t>> order;
  for (const auto& [id, count] : in_documents) order.emplace_back(-count, id);
  std::ranges::sort(order);
  order.resize(std::min(order.size(), static_cast<std::size_t>(most)));
  std::vector<std::int32_t> words;
  for (const auto& [count, id] : order) words.push_back(id);
  std::ranges::sort(words);
  return words;
}

/// 1 / sigma of a norm of these rows, mean over them; `states` are what enters it.
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

/// @param logits  (words, words)  (1), changed
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

/// Why what heads write is no sum of logits; empty: it is.
/// @param prediction  null: nothing predicts tokens
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

}  // namespace

HeadWrites head_writes(const Model& model, const Source& source, const HeadGrid& grid,
                       const HeadWritesOptions& options) {
  HeadWrites found;
  found.undefined = no_head_effects(model, source);
  if (!found.undefined.empty()) return found;
  const auto prediction = model.read_prediction ? model.read_prediction() : nullptr;
  found.undefined = no_sum_of_logits(model, prediction.get());
  if (!found.undefined.empty()) return found;
  const std::vector<Document> documents = documents_to_change(source, options.documents);
  const Stack& stack = model.stack;
  const std::vector<std::int32_t> words = compared_words(documents, prediction->words.d_out(), options.most_words);
  const Index count = std::ssize(words), layers = stack.layers();
  found.grid = grid;
  found.documents = std::ssize(documents);
  found.words = count;

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
    if (document.tokens.size() == document.ids.size()) {
      std::map<std::int32_t, std::string> texts;
      for (std::size_t i = 0; i < document.ids.size(); ++i) texts.emplace(document.ids[i], document.tokens[i]);
      TokenTexts own;
      for (const auto& [id, text] : texts) {
        own.ids.push_back(id);
        own.texts.push_back(text);
      }
      found.texts.add(std::move(own));
    }
  }

  // Rows of the prediction head with the final norm held.
  Matrix reads(count, stack.d_model());
  for (Index w = 0; w < count; ++w) {
    Vector row = prediction->words.weight.row(words[static_cast<std::size_t>(w)]).cast<double>().transpose();
    if (!stack.final_norm.empty()) row.array() *= stack.final_norm.scale.cast<double>().array();
    if (!stack.final_norm.empty() && stack.final_norm.kind == NormKind::layer) row.array() -= row.mean();
    reads.row(w) =
        row.transpose() * (inverse_scale * static_cast<double>(prediction->state_scale * stack.block.residual_scale));
  }

  found.copying = found.p_value = Vector::Constant(grid.rows(), not_defined);
  std::vector<Matrix> written(static_cast<std::size_t>(grid.rows()));  // (documents, words)  (4)
  parallel_for(grid.rows(), options.threads, [&](Index row) {
    const auto layer = static_cast<std::size_t>(grid.layers[static_cast<std::size_t>(row / grid.heads)]);
    const Index head = row % grid.heads, key_head = stack.block.key_head(head);
    const MatrixView32 output = stack.blocks[layer].self.output.weight;
    const Index width = output.cols() / grid.heads;
    const Matrix reads_head = product(reads, Matrix(output.middleCols(head * width, width).cast<double>()));
    const Matrix mean = times.cwiseInverse().asDiagonal() * values[layer].middleCols(key_head * width, width);
    Matrix logits = product(mean, Matrix(reads_head.transpose()));
    const Copying copying = copying_of(logits);
    found.copying[row] = copying.score;
    found.p_value[row] = copying.p_value;
    Matrix& own = written[static_cast<std::size_t>(row)];
    own.resize(std::ssize(documents), count);
    for (Index d = 0; d < own.rows(); ++d) {
      const Vector y = reads_head * outputs[static_cast<std::size_t>(d)][layer].segment(head * width, width);
      own.row(d) = (y.array() - y.mean()).transpose();
    }
  });
  found.q_value = q_values(found.p_value);

  ItemSums sums(grid.rows() * count);
  for (Index row = 0; row < grid.rows(); ++row)
    for (Index d = 0; d < std::ssize(documents); ++d)
      for (Index w = 0; w < count; ++w) sums.add(row * count + w, written[static_cast<std::size_t>(row)](d, w));
  const Vector q = q_values(moderated_p_values(sums, {.least_documents = options.least_documents, .two_sided = true}));
  found.raised.resize(static_cast<std::size_t>(grid.rows()));
  found.lowered.resize(found.raised.size());
  for (Index row = 0; row < grid.rows(); ++row)
    for (const double sign : {1.0, -1.0}) {
      Vector change(count);
      for (Index w = 0; w < count; ++w) change[w] = sign * sums.mean(row * count + w);
      auto& named = (sign > 0 ? found.raised : found.lowered)[static_cast<std::size_t>(row)];
      for (const Index w : largest_entries(change, std::min(words_written, count)))
        if (change[w] > 0 && q[row * count + w] <= options.fdr)
          named.push_back({words[static_cast<std::size_t>(w)], sign * change[w], q[row * count + w]});
    }
  return found;
}

namespace {

class HeadWritesAnalysis : public Analysis {
 public:
  using Analysis::Analysis;

  [[nodiscard]] std::vector<Field> finish(Finished& /*finished*/) override {
    Fields fields("head_writes");
    const char* const copies = "standard score of a word's own logit when the head attends to it, mean over words";
    HeadWritesOptions how;
    how.threads = input().threads;
    const HeadWrites writes = head_writes(input().model, *input().source, site().grid, how);
    if (!writes.undefined.empty()) return fields.absent("copying", "1", copies, writes.undefined).taken();
    const Axis layer = layer_axis(site().grid.layers), head = head_axis(site().grid.heads);
    const char* const few = "fewer than 8 words, or the head writes nothing";
    fields.add("copying", {layer, head}, "1", copies, writes.copying, few);
    fields.add("copying_p_value", {layer, head}, "1", "chance of such a score, either sign, if words are permuted",
               writes.p_value, few);
    fields.add("copying_q_value", {layer, head}, "1", "the same adjusted for the number of heads", writes.q_value, few);
    const std::vector<Axis> ranked{
        layer, head, counting_axis("written_rank", "1", "rank by the change of the logit", 0, words_written - 1)};
    const auto text = [&](const WrittenWord& word) { return writes.texts.text(word.id); };
    for (const auto& [name, all] : {std::pair("raised", &writes.raised), {"lowered", &writes.lowered}}) {
      const std::vector<WrittenWord> named = filled_up(*all, words_written);
      const std::string of = fmt::format("words whose logits the head {} most, mean over queries",
                                         std::string(name) == "raised" ? "raises" : "lowers");
      fields.add(fmt::format("{}_id", name), ranked, "1", of, named | std::views::transform(&WrittenWord::id),
                 "-1: fewer words");
      fields.add(name, ranked, "1", "their texts; empty: not known, or fewer words",
                 named | std::views::transform(text));
      fields.add(fmt::format("{}_logit", name), ranked, "1",
                 "change of the logit against the mean of all compared words",
                 named | std::views::transform(&WrittenWord::logit), "fewer words");
      fields.add(fmt::format("{}_q_value", name), ranked, "1",
                 "p-value over documents, adjusted for all words of all heads",
                 named | std::views::transform(&WrittenWord::q_value), "fewer words");
    }
    fields.note_all("documents", writes.documents).note_all("words", writes.words).note_all("fdr", how.fdr);
    return fields.taken();
  }
};

std::unique_ptr<Analysis> make_head_writes(const AnalysisInput& input) {
  return input.source == nullptr ? nullptr : std::make_unique<HeadWritesAnalysis>(input);
}

}  // namespace

extern const AnalysisKind head_writes_analysis{
    .name = "head_writes",
    .asks = "What does the head write: which words does it make likelier, and does it copy?",
    .one_sequence = true,
    .make = make_head_writes};

}  // namespace headwave
