#include "head_types.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "../../core/algebra/kernels.h"
#include "../../core/fields/fields.h"
#include "../../core/numbers/offset_peak.h"

namespace headwave {

namespace {

/// Equation (2) of every head. A maximum at the end of the search counts only where it is more than half:
/// shares add up to at most 1, so none beyond can be larger.
void set_one_offset(HeadTypes& types) {
  const Index reach = types.options.reach;
  types.positional_share = types.positional_offset = Vector::Constant(types.grid.rows(), not_defined);
  for (Index row = 0; row < types.grid.rows(); ++row) {
    const auto peak = offset_peak(types.argmax_share.row(row).transpose());
    if (!peak) continue;
    const double top = types.argmax_share(row, reach + peak->offset);
    types.positional_share[row] = top;
    if (top > (peak->at_edge ? 0.5 : 0.0)) types.positional_offset[row] = static_cast<double>(peak->offset);
  }
}

/// The first rule that holds. An undefined score meets no rule.
HeadType type_of(const HeadTypes& types, Index row) {
  if (types.documents < types.options.least_documents) return HeadType::undefined;
  const auto score = [&](HeadScore of) { return types.scores(static_cast<Index>(of), row); };
  const auto stands_out = [&](HeadScore of, HeadScore baseline) {
    return score(of) > types.options.content && score(of) > types.options.content_ratio * score(baseline);
  };
  if (score(HeadScore::previous) > types.options.neighbour) return HeadType::previous;
  if (score(HeadScore::next) > types.options.neighbour) return HeadType::next;
  if (types.positional_share[row] >= types.options.one_offset) return HeadType::one_offset;
  if (stands_out(HeadScore::duplicate, HeadScore::duplicate_baseline)) return HeadType::duplicate;
  if (stands_out(HeadScore::induction, HeadScore::induction_baseline)) return HeadType::induction;
  const double even = types.even(static_cast<Index>(EvenScore::sink_weight), row), top = score(HeadScore::sink_weight);
  if (top > types.options.sink && !(top <= types.options.content_ratio * even)) return HeadType::sink;
  return HeadType::other;
}

}  // namespace

HeadTypes head_types(const HeadTypeSum& sum, const HeadGrid& grid, AttentionKind kind, const HeadTypeOptions& options) {
  HeadTypes types;
  types.grid = grid;
  types.kind = kind;
  types.options = options;
  types.documents = sum.documents;
  types.scores = sum.scores.value();
  types.even = sum.even.value();
  types.argmax_share = sum.argmax_share.value();
  types.sink_position = sum.sink_position.value.value();
  set_one_offset(types);
  for (Index row = 0; row < grid.rows(); ++row) types.types.push_back(type_of(types, row));
  return types;
}

namespace {

constexpr const char* other_sequence = "queries and keys are different sequences";
constexpr const char* no_attention = "no attention came, or every key was masked";

/// How a score is described.
struct ScoreText {
  HeadScore score;
  const char* name;
  const char* unit;
  const char* long_name;
  const char* source;
  const char* undefined;
  double HeadTypeOptions::*threshold;  // or nullptr
  bool compares;                       // positions or tokens of queries with those of keys
};

constexpr const char* clark = "Clark et al. 2019";
constexpr const char* gu = "Gu et al. 2025";
constexpr const char* ours = "threshold: this project's choice, none is published";
constexpr const char* none_before = "no document has token ids and a token that came before";
constexpr const char* none_to_copy = "no document has token ids and a token that came before with another after it";

constexpr std::array<ScoreText, head_scores> score_texts{{
    {HeadScore::previous, "previous", "1", "mean weight on the token before", clark, "no document has two tokens",
     &HeadTypeOptions::neighbour, true},
    {HeadScore::next, "next", "1", "mean weight on the token after", clark, "no document has two tokens",
     &HeadTypeOptions::neighbour, true},
    {HeadScore::duplicate, "duplicate", "1", "mean weight on earlier occurrences of the query's token", ours,
     none_before, &HeadTypeOptions::content, true},
    {HeadScore::duplicate_baseline, "duplicate_baseline", "1", "duplicate if all allowed keys had the same weight",
     nullptr, none_before, nullptr, true},
    {HeadScore::induction, "induction", "1", "mean weight on tokens that followed an earlier occurrence of the query's",
     "Olsson et al. 2022; threshold: this project's choice, none is published", none_to_copy, &HeadTypeOptions::content,
     true},
    {HeadScore::induction_baseline, "induction_baseline", "1", "induction if all allowed keys had the same weight",
     nullptr, none_to_copy, nullptr, true},
    {HeadScore::entropy, "entropy", "nat", "mean entropy of a query's weights", nullptr, no_attention, nullptr, false},
    {HeadScore::entropy_share, "entropy_share", "1", "mean entropy as a share of its maximum, ln(allowed keys)",
     nullptr, "no query has two keys to choose from", nullptr, false},
    {HeadScore::sink_first, "sink_first", "1", "mean weight that the first key gets", gu, no_attention,
     &HeadTypeOptions::sink, false},
    {HeadScore::sink_weight, "sink_weight", "1",
     "largest mean weight that a key gets, of those that a quarter of the queries may look at", gu, no_attention,
     &HeadTypeOptions::sink, false},
    {HeadScore::special_weight, "special_weight", "1", "mean weight on special tokens", nullptr,
     "nothing is known of special tokens", nullptr, false},
    {HeadScore::learned_sink, "learned_sink", "1",
     "mean weight that the head's learned sink takes, which is no token's", "OpenAI 2025 (gpt-oss)",
     "the model's heads have no learned sinks", nullptr, false},
}};

/// What a head is called, and by which rule.
void add_kind(Fields& fields, const std::vector<Axis>& axes, const HeadTypes& types) {
  const HeadTypeOptions& options = types.options;
  fields
      .flags("kind", axes, "type of a head", types.types,
             {"other", "previous", "next", "one offset (Voita)", "duplicate", "induction", "sink", "undefined"})
      .note("documents", types.documents)
      .note("least_documents", options.least_documents)
      .note(
          "rule",
          fmt::format(
              "the first that holds: previous > {0}; next > {0}; one offset: positional_share >= {1}; duplicate > {2} "
              "and > {3} duplicate_baseline; induction > {2} and > {3} induction_baseline; "
              "sink_weight > {4} and > {3} sink_weight_baseline; else other",
              options.neighbour, options.one_offset, options.content, options.content_ratio, options.sink))
      .note("source",
            "previous, next: Clark et al. 2019; one offset: Voita et al. 2019, who say positional; sink: Gu et al. "
            "2025; duplicate, induction and the order: this project's choice");
}

}  // namespace

std::vector<Field> describe(const HeadTypes& types) {
  const bool cross = types.kind == AttentionKind::cross;
  const bool causal = types.kind == AttentionKind::causal;
  const Axis layer = layer_axis(types.grid.layers), head = head_axis(types.grid.heads);
  const Axis offset = offset_axis("offset", -types.options.reach, types.options.reach);
  const char* const ties = "the lesser |t|, then the left";
  Fields fields("head_types");
  add_kind(fields, {layer, head}, types);
  fields
      .add("argmax_share", {layer, head, offset}, "1", "share of queries whose largest weight is at an offset",
           types.argmax_share)
      .undefined_if_any(cross ? other_sequence : no_attention)
      .note("ties", ties);
  fields
      .add("positional_share", {layer, head}, "1", "largest share of queries whose largest weight is at one offset",
           types.positional_share)
      .undefined_if_any(cross ? other_sequence : no_attention)
      .note("ties", ties)
      .note("threshold", types.options.one_offset)
      .note("source", "Voita et al. 2019");
  fields.add("positional_offset", {layer, head}, "token", "the offset of positional_share", types.positional_offset)
      .undefined_if_any(cross ? other_sequence
                              : "no query has its largest weight within reach; or positional_share lies "
                                "at its end and is not more than half")
      .note("ties", ties);
  for (const ScoreText& text : score_texts) {
    fields.add(text.name, {layer, head}, text.unit, text.long_name, types.of(text.score))
        .undefined_if_any(cross && text.compares                    ? other_sequence
                          : causal && text.score == HeadScore::next ? "a causal mask hides the next token"
                                                                    : text.undefined);
    if (text.threshold != nullptr) fields.note("threshold", types.options.*text.threshold);
    if (text.threshold == &HeadTypeOptions::content) fields.note("baseline_ratio", types.options.content_ratio);
    if (text.source != nullptr) fields.note("source", text.source);
  }
  for (const auto& [score, name, text] :
       {std::tuple(EvenScore::previous, "previous_baseline", "previous if all allowed keys had the same weight"),
        {EvenScore::next, "next_baseline", "next if all allowed keys had the same weight"},
        {EvenScore::sink_weight, "sink_weight_baseline", "sink_weight if all allowed keys had the same weight"}}) {
    const bool compares = score != EvenScore::sink_weight;
    fields.add(name, {layer, head}, "1", text, Vector(types.even.row(static_cast<Index>(score)).transpose()))
        .undefined_if_any(cross && compares                    ? other_sequence
                          : causal && score == EvenScore::next ? "a causal mask hides the next token"
                          : compares                           ? "no document has two tokens"
                                                               : no_attention);
  }
  fields.add("sink_position", {layer, head}, "token", "the key of sink_weight in the first document",
             types.sink_position, std::string("-1: ") + no_attention);
  return fields.taken();
}

namespace {

/// The part of an ascending list that lies in first .. end - 1.
std::span<const Index> part_of(const std::vector<Index>& list, Index first, Index end) {
  const auto from = std::lower_bound(list.begin(), list.end(), first);
  return {from, std::max(from, std::lower_bound(list.begin(), list.end(), end))};
}

/// Equation (3) of one row of sums over queries.
/// @returns [key]  of the keys that at least a quarter of the queries are averaged over
Vector mean_weights(const Eigen::Ref<const Eigen::RowVectorXd>& columns, Index queries, AttentionKind kind) {
  Index counted = 0;
  Vector alpha(columns.size());
  for (; counted < columns.size(); ++counted) {
    const Index looking = kind == AttentionKind::causal ? queries - counted : queries;
    if (looking < 1 || 4 * looking < queries) break;
    alpha[counted] = columns[counted] / static_cast<double>(looking);
  }
  return alpha.head(counted);
}

class HeadTypeAnalysis : public AnalysisOf<HeadTypeSum> {
 public:
  using AnalysisOf::AnalysisOf;
  [[nodiscard]] std::unique_ptr<Look> look(const Document& document, Index /*i*/) const override {
    return look_of<HeadTypeProbe>(site().grid, document, site().kind);
  }

 protected:
  [[nodiscard]] std::vector<Field> finish_sum(HeadTypeSum& sum, Finished& /*finished*/) override {
    return describe(head_types(sum, site().grid, site().kind));
  }
};

}  // namespace

Vector even_attention(Index queries, Index keys, AttentionKind kind, Index window, Index chunk) {
  const bool causal = kind == AttentionKind::causal;
  Eigen::RowVectorXd columns = Eigen::RowVectorXd::Zero(keys + 1);  // first what begins and ends at each key
  double previous = 0, next = 0;
  for (Index i = 0; i < queries; ++i) {
    const KeySpan open = allowed_keys(i, keys, causal, window, chunk);
    if (open.count == 0) continue;
    const double weight = 1 / static_cast<double>(open.count);
    columns[open.first] += weight;
    columns[open.end()] -= weight;
    const auto weight_on = [&](Index key) { return key >= open.first && key < open.end() ? weight : 0.0; };
    previous += weight_on(i - 1);
    next += weight_on(i + 1);
  }
  for (Index k = 1; k < keys; ++k) columns[k] += columns[k - 1];
  Vector even = Vector::Constant(static_cast<Index>(even_scores), not_defined);
  if (kind != AttentionKind::cross && queries > 1) {
    even[static_cast<Index>(EvenScore::previous)] = previous / static_cast<double>(queries - 1);
    if (!causal) even[static_cast<Index>(EvenScore::next)] = next / static_cast<double>(queries - 1);
  }
  even[static_cast<Index>(EvenScore::sink_weight)] = mean_weights(columns.head(keys), queries, kind).maxCoeff();
  return even;
}

HeadTypeProbe::HeadTypeProbe(HeadGrid grid, const Document& document, AttentionKind kind,
                             const HeadTypeOptions& options)
    : grid_(std::move(grid)),
      kind_(kind),
      reach_(options.reach),
      queries_(document.queries(kind)),
      keys_(document.keys(kind)),
      knows_special_(!document.key_tokens(kind).special.empty()) {
  const TokenSequence& tokens = document.key_tokens(kind);
  if (reach_ < 0) throw ShapeError(fmt::format("HeadTypeProbe: expected a reach of at least 0, {} came", reach_));
  if (knows_special_ && static_cast<Index>(tokens.special.size()) != keys_)
    throw ShapeError(fmt::format("HeadTypeProbe: document '{}' has {} tokens and marks {} as special or not",
                                 document.name, keys_, tokens.special.size()));
  for (Index j = 0; j < keys_; ++j)
    if (tokens.is_special(j)) special_.push_back(j);
  std::unordered_map<std::int32_t, std::size_t> lists;
  for (std::size_t i = 0; kind_ != AttentionKind::cross && i < tokens.ids.size(); ++i) {
    const std::size_t list = lists.try_emplace(tokens.ids[i], same_token_.size()).first->second;
    if (list == same_token_.size()) same_token_.emplace_back();
    same_token_[list].push_back(static_cast<Index>(i));
    token_of_.push_back(list);
  }
  sum_ = count_ = Matrix::Zero(static_cast<Index>(head_scores), grid_.rows());
  argmax_ = Matrix::Zero(grid_.rows(), 2 * reach_ + 1);
  live_ = Vector::Zero(grid_.rows());
  columns_ = Matrix::Zero(grid_.rows(), keys_);
  even_ = Matrix::Constant(static_cast<Index>(even_scores), grid_.rows(), not_defined);
}

HeadTypeProbe::Query HeadTypeProbe::query_at(Index position, KeySpan open) const {
  Query query{position, open, {}, {}, false, false};
  if (token_of_.empty()) return query;
  const std::vector<Index>& same = same_token_[token_of_[static_cast<std::size_t>(position)]];
  query.duplicates = part_of(same, open.first, position);
  query.before = part_of(same, open.first - 1, position - 1);
  query.has_duplicate = same.front() < position;
  query.has_induction = same.front() < position - 1;
  return query;
}

void HeadTypeProbe::add(HeadScore score, Index row, double value) {
  sum_(static_cast<Index>(score), row) += value;
  count_(static_cast<Index>(score), row) += 1.0;
}

/// Equation (1). Not offset_peak(): the largest of all keys is known, and is looked for within reach, the
/// smaller |t| first as there. Offsets beyond reach need not be looked at: within reach all are nearer and
/// win every tie.
void HeadTypeProbe::add_argmax(const Query& query, Index row, const Eigen::Ref<const Eigen::RowVectorXf>& open,
                               float largest) {
  for (Index distance = 0; distance <= reach_; ++distance)
    for (const Index t : {-distance, distance}) {
      const Index key = query.position + t;
      if (key < query.open.first || key >= query.open.end() || open[key - query.open.first] != largest) continue;
      argmax_(row, reach_ + t) += 1.0;
      return;
    }
}

/// @param open  weights of the keys that the query may look at
/// @param sinks  whether the weights may sum to less than 1
void HeadTypeProbe::add_scores(const Query& query, Index row, const Eigen::Ref<const Eigen::RowVectorXf>& open,
                               bool sinks) {
  const Index allowed = open.size();
  if (allowed == 0) return;
  const double negative = kernels<float>().sum_x_log_x(open.data(), allowed);
  if (!std::isfinite(negative))
    throw NumericError(
        fmt::format("head types: an attention weight of query {} is not finite; look for NaN or huge values in the "
                    "model's weights",
                    query.position));
  const float largest = open.maxCoeff();
  if (largest == 0.0F) return;
  live_[row] += 1.0;
  double entropy = std::max(0.0, -negative), given = 1;
  if (sinks) {
    given = open.cast<double>().sum();
    add(HeadScore::learned_sink, row, 1 - given);
    entropy = std::max(0.0, entropy / given + std::log(given));
  }
  add(HeadScore::entropy, row, entropy);
  if (allowed > 1) add(HeadScore::entropy_share, row, entropy / std::log(static_cast<double>(allowed)));
  if (kind_ == AttentionKind::cross) return;

  add_argmax(query, row, open, largest);
  const auto weight = [&](Index key) {
    return key >= query.open.first && key < query.open.end() ? static_cast<double>(open[key - query.open.first]) : 0.0;
  };
  if (query.position > 0) add(HeadScore::previous, row, weight(query.position - 1));
  if (kind_ != AttentionKind::causal && query.position + 1 < keys_)
    add(HeadScore::next, row, weight(query.position + 1));
  const auto uniform = [&](std::span<const Index> keys) {
    return given * static_cast<double>(keys.size()) / static_cast<double>(allowed);
  };
  if (query.has_duplicate) {
    double sum = 0;
    for (const Index key : query.duplicates) sum += static_cast<double>(open[key - query.open.first]);
    add(HeadScore::duplicate, row, sum);
    add(HeadScore::duplicate_baseline, row, uniform(query.duplicates));
  }
  if (query.has_induction) {
    double sum = 0;
    for (const Index key : query.before) sum += static_cast<double>(open[key + 1 - query.open.first]);
    add(HeadScore::induction, row, sum);
    add(HeadScore::induction_baseline, row, uniform(query.before));
  }
}

void HeadTypeProbe::see(const Tile& tile) {
  if (tile.kind != kind_) return;
  if (tile.heads() != grid_.heads || tile.queries != queries_ || tile.keys != keys_)
    throw ShapeError(fmt::format("head types: a tile of {} heads over {} x {} positions came, expected {} over {} x {}",
                                 tile.heads(), tile.queries, tile.keys, grid_.heads, queries_, keys_));
  const Index first_row = grid_.first_row(tile.layer);
  if (tile.rows() == 0) return;
  if (tile.first_row == 0)
    even_.middleCols(first_row, grid_.heads) =
        even_attention(queries_, keys_, kind_, tile.window, tile.chunk).replicate(1, grid_.heads);
  for (Index r = 0; r < tile.rows(); ++r) {
    const Query query = query_at(tile.first_row + r, tile.allowed_keys(tile.first_row + r));
    for (Index head = 0; head < tile.heads(); ++head) {
      const auto open = tile.weights[static_cast<std::size_t>(head)].row(r).segment(query.open.first, query.open.count);
      add_scores(query, first_row + head, open, tile.sinks);
      columns_.row(first_row + head).segment(query.open.first, query.open.count) += open.cast<double>();
    }
  }
}

void HeadTypeProbe::set_sink(Index row, Matrix& scores, std::vector<Index>& sink_position) const {
  const Vector alpha = mean_weights(columns_.row(row), queries_, kind_);
  Index top = 0;
  for (Index k = 1; k < alpha.size(); ++k)
    if (alpha[k] > alpha[top]) top = k;
  scores(static_cast<Index>(HeadScore::sink_first), row) = alpha[0];
  scores(static_cast<Index>(HeadScore::sink_weight), row) = alpha[top];
  sink_position[static_cast<std::size_t>(row)] = top;
}

HeadTypeSum HeadTypeProbe::taken() const {
  const Index rows = grid_.rows();
  Matrix scores = sum_.cwiseQuotient(count_);  // 0 / 0 is NaN: undefined
  Matrix argmax_share = Matrix::Constant(rows, 2 * reach_ + 1, not_defined);
  std::vector<Index> sink_position(static_cast<std::size_t>(rows), -1);
  for (Index row = 0; row < rows; ++row) {
    if (live_[row] == 0.0) continue;
    if (kind_ != AttentionKind::cross) argmax_share.row(row) = argmax_.row(row) / live_[row];
    set_sink(row, scores, sink_position);
    if (!knows_special_) continue;
    double special = 0;
    for (const Index key : special_) special += columns_(row, key);
    scores(static_cast<Index>(HeadScore::special_weight), row) = special / live_[row];
  }
  return {1, DefinedMean(scores), DefinedMean(even_), DefinedMean(argmax_share), {std::move(sink_position)}};
}

const AnalysisKind& head_types_analysis() {
  static const AnalysisKind kind{.name = "head_types",
                                 .asks = "What is each head called: previous, next, duplicate, induction, sink?",
                                 .needs = {Need::attention},
                                 .of_sums = true,
                                 .by_default = true,
                                 .make = make_of<HeadTypeAnalysis>};
  return kind;
}

}  // namespace headwave
