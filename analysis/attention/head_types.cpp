#include "head_types.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <ranges>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "../../core/algebra/kernels.h"
#include "../../core/fields/fields.h"
#include "../../core/numbers/offset_peak.h"
#include "../pass/row_means.h"

namespace headwave {

namespace {

constexpr Index argmax_reach = 8;  // largest |t| at which a row's largest weight is recorded, in tokens
constexpr double one_offset_least =
    0.9;                                 // share of queries whose largest weight lies at one offset (Voita et al. 2019)
constexpr double neighbour_least = 0.5;  // mean weight on the token before, or after, exceeds this (Clark et al. 2019)
constexpr double sink_least = 0.3;       // mean weight that one key gets exceeds this (Gu et al. 2025)
constexpr double content_least = 0.4;    // duplicate and induction scores exceed this: our choice, nothing is published
constexpr double content_ratio = 3;      // ... and this many times their baseline, as do sinks: our choice
constexpr Index least_documents = 8;     // fewer give no kind; head_account() gives no verdict either

/// The first rule of ScoredHead::type() that holds, else `other`. Undefined: too few documents.
enum class HeadType : std::uint8_t { other, previous, next, one_offset, duplicate, induction, sink, undefined };

/// Equation (3) for one head.
/// @param columns  (keys)  weights summed over queries
/// @returns only keys whose mean is over at least a quarter of the queries
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

/// The entries first .. end - 1 of an ascending list.
std::span<const Index> part_between(const std::vector<Index>& list, Index first, Index end) {
  const auto from = std::lower_bound(list.begin(), list.end(), first);
  return {from, std::max(from, std::lower_bound(list.begin(), list.end(), end))};
}

/// Computes the scores of one document. Rows of zeros, where the mask forbids every key, only count in the
/// mean of a sink. Keys with the query's token are looked up once per document, so a head costs one pass over
/// its weights and one step per pair of equal tokens. Only logarithms are in float, as the weights are.
class HeadTypeLook : public RowMeans {
 public:
  HeadTypeLook(const Site& site, const Document& document)
      : RowMeans(site, head_scores),
        queries_(document.queries(site.kind)),
        keys_(document.keys(site.kind)),
        tokens_(document.key_tokens(site.kind)) {
    std::unordered_map<std::int32_t, std::size_t> lists;
    for (std::size_t i = 0; !cross() && i < tokens_.ids.size(); ++i) {
      const std::size_t list = lists.try_emplace(tokens_.ids[i], same_token_.size()).first->second;
      if (list == same_token_.size()) same_token_.emplace_back();
      same_token_[list].push_back(static_cast<Index>(i));
      token_of_.push_back(list);
    }
    const Index rows = site.grid.rows();
    argmax_ = Matrix::Zero(rows, 2 * argmax_reach + 1);
    live_ = Vector::Zero(rows);
    columns_ = Matrix::Zero(rows, keys_);
    even_ = Matrix::Constant(even_scores, rows, not_defined);
  }

  [[nodiscard]] HeadTypeSum taken() const {
    Matrix scores(head_scores + even_scores, live_.size());
    scores << means(), even_;
    Matrix argmax_share = Matrix::Constant(argmax_.rows(), argmax_.cols(), not_defined);
    std::vector<Index> sink_position(static_cast<std::size_t>(live_.size()), -1);
    for (Index row = 0; row < live_.size(); ++row) {
      if (live_[row] == 0.0) continue;
      if (!cross()) argmax_share.row(row) = argmax_.row(row) / live_[row];
      const Vector alpha = mean_weights(columns_.row(row), queries_, site().kind);
      Index top = 0;
      scores(static_cast<Index>(HeadScore::sink_weight), row) = alpha.maxCoeff(&top);
      scores(static_cast<Index>(HeadScore::sink_first), row) = alpha[0];
      sink_position[static_cast<std::size_t>(row)] = top;
      if (tokens_.special.empty()) continue;
      double special = 0;
      for (Index key = 0; key < keys_; ++key)
        if (tokens_.is_special(key)) special += columns_(row, key);
      scores(static_cast<Index>(HeadScore::special_weight), row) = special / live_[row];
    }
    return {1, DefinedMean(scores), DefinedMean(argmax_share), {std::move(sink_position)}};
  }

 private:
  [[nodiscard]] bool cross() const { return site().kind == AttentionKind::cross; }

  void add(HeadScore score, const HeadRow& one, double value) { RowMeans::add(static_cast<Index>(score), one, value); }

  void begin(const Tile& tile, Index first_row) override {
    if (tile.first_row == 0)
      even_.middleCols(first_row, tile.heads()) =
          even_attention(queries_, keys_, site().kind, tile.window, tile.chunk).replicate(1, tile.heads());
  }

  void row(const HeadRow& one) override {
    const Index allowed = one.open.count, i = one.query;
    columns_.row(one.row).segment(one.open.first, allowed) += one.weights.cast<double>();
    if (allowed == 0) return;
    const double negative = kernels<float>().sum_x_log_x(one.weights.data(), allowed);
    if (!std::isfinite(negative))
      throw NumericError(
          fmt::format("head types: an attention weight of query {} is not finite; look for NaN or huge values in the "
                      "model's weights",
                      i));
    const float largest = one.weights.maxCoeff();
    if (largest == 0.0F) return;
    live_[one.row] += 1.0;
    double entropy = std::max(0.0, -negative), given = 1;
    if (one.tile.sinks) {
      given = one.weights.cast<double>().sum();
      add(HeadScore::learned_sink, one, 1 - given);
      entropy = std::max(0.0, entropy / given + std::log(given));
    }
    add(HeadScore::entropy, one, entropy);
    if (allowed > 1) add(HeadScore::entropy_share, one, entropy / std::log(static_cast<double>(allowed)));
    if (cross()) return;
    add_argmax(one, largest);
    if (i > 0) add(HeadScore::previous, one, one.on(i - 1));
    if (site().kind != AttentionKind::causal && i + 1 < keys_) add(HeadScore::next, one, one.on(i + 1));
    if (token_of_.empty()) return;
    // Duplicate: earlier keys with the query's id. Induction: earlier keys that follow a key with that id.
    const std::vector<Index>& same = same_token_[token_of_[static_cast<std::size_t>(i)]];
    add_content(one, HeadScore::duplicate, same.front() < i, part_between(same, one.open.first, i), 0, given);
    add_content(one, HeadScore::induction, same.front() < i - 1, part_between(same, one.open.first - 1, i - 1), 1,
                given);
  }

  /// Equation (1). The row's maximum is known, so it is only looked for within reach, in the order of
  /// offset_peak(). Beyond reach nothing is looked at: an equal weight there would lose the tie.
  void add_argmax(const HeadRow& one, float largest) {
    for (Index distance = 0; distance <= argmax_reach; ++distance)
      for (const Index t : {-distance, distance}) {
        const Index key = one.query + t;
        if (key < one.open.first || key >= one.open.end() || one.weights[key - one.open.first] != largest) continue;
        argmax_(one.row, argmax_reach + t) += 1.0;
        return;
      }
  }

  /// Adds the weight on some keys to a score, and their uniform weight to its baseline, the next score.
  /// @param any    whether there are such keys, inside the window or not
  /// @param after  added to every key
  void add_content(const HeadRow& one, HeadScore score, bool any, std::span<const Index> keys, Index after,
                   double given) {
    if (!any) return;
    double sum = 0;
    for (const Index key : keys) sum += static_cast<double>(one.weights[key + after - one.open.first]);
    add(score, one, sum);
    add(static_cast<HeadScore>(static_cast<std::uint8_t>(score) + 1), one,
        given * static_cast<double>(keys.size()) / static_cast<double>(one.open.count));
  }

  Index queries_, keys_;
  const TokenSequence& tokens_;                 // of the keys
  std::vector<std::vector<Index>> same_token_;  // positions of one token id, ascending; one list per id
  std::vector<std::size_t> token_of_;           // list of each query's token; empty: no ids
  Matrix argmax_;                               // (rows, 2 reach + 1)  number of queries
  Vector live_;                                 // (rows)  number of rows that are not zero
  Matrix columns_;                              // (rows, keys)  weight that each key gets
  Matrix even_;                                 // (even_scores, rows)
};

constexpr const char* other_sequence = "queries and keys are different sequences";
constexpr const char* no_attention = "no attention was seen, or every key was masked";
constexpr const char* hidden_next = "a causal mask hides the next token";

/// How a score is described.
struct ScoreText {
  const char* name;
  const char* unit;
  const char* long_name;
  const char* source;
  const char* undefined;
  double threshold;  // 0: none
  bool compares;     // whether it compares positions or tokens of queries with those of keys
};

constexpr const char* clark = "Clark et al. 2019";
constexpr const char* gu = "Gu et al. 2025";
constexpr const char* ours = "threshold: this project's choice, none is published";
constexpr const char* one_token = "no document has two tokens";
constexpr const char* none_before = "no document has token ids and a token that occurred earlier";
constexpr const char* none_to_copy =
    "no document has token ids and a token that occurred earlier with another after it";

/// In the order of HeadScore.
constexpr std::array<ScoreText, head_scores + even_scores> score_texts{{
    {"previous", "1", "mean weight on the token before", clark, one_token, neighbour_least, true},
    {"next", "1", "mean weight on the token after", clark, one_token, neighbour_least, true},
    {"duplicate", "1", "mean weight on earlier occurrences of the query's token", ours, none_before, content_least,
     true},
    {"duplicate_baseline", "1", "duplicate if all allowed keys had the same weight", nullptr, none_before, 0, true},
    {"induction", "1", "mean weight on tokens that followed an earlier occurrence of the query's",
     "Olsson et al. 2022; threshold: this project's choice, none is published", none_to_copy, content_least, true},
    {"induction_baseline", "1", "induction if all allowed keys had the same weight", nullptr, none_to_copy, 0, true},
    {"entropy", "nat", "mean entropy of a query's weights", nullptr, no_attention, 0, false},
    {"entropy_share", "1", "mean entropy as a share of its maximum, ln(allowed keys)", nullptr,
     "no query has two keys to choose from", 0, false},
    {"sink_first", "1", "mean weight that the first key gets", gu, no_attention, sink_least, false},
    {"sink_weight", "1", "largest mean weight that a key gets, among keys that a quarter of the queries may look at",
     gu, no_attention, sink_least, false},
    {"special_weight", "1", "mean weight on special tokens", nullptr, "which tokens are special is not known", 0,
     false},
    {"learned_sink", "1", "mean weight on the head's learned sink, which is not a token", "OpenAI 2025 (gpt-oss)",
     "the model's heads have no learned sinks", 0, false},
    {"previous_baseline", "1", "previous if all allowed keys had the same weight", nullptr, one_token, 0, true},
    {"next_baseline", "1", "next if all allowed keys had the same weight", nullptr, one_token, 0, true},
    {"sink_weight_baseline", "1", "sink_weight if all allowed keys had the same weight", nullptr, no_attention, 0,
     false},
}};

/// Mean scores of one head over documents, and its kind.
struct ScoredHead {
  Vector scores;
  double positional_share = not_defined, positional_offset = not_defined;

  [[nodiscard]] double of(HeadScore score) const { return scores[static_cast<Index>(score)]; }

  /// Equation (2). A maximum at the end of the search counts only above 1/2, where none beyond can be larger.
  void set_one_offset(const Vector& argmax_share) {
    const auto peak = offset_peak(argmax_share);
    if (!peak) return;
    positional_share = argmax_share[argmax_share.size() / 2 + peak->offset];
    if (positional_share > (peak->at_edge ? 0.5 : 0.0)) positional_offset = static_cast<double>(peak->offset);
  }

  /// The first rule that holds. An undefined score satisfies none.
  [[nodiscard]] HeadType type() const {
    const auto stands_out = [&](HeadScore score, HeadScore baseline) {
      return of(score) > content_least && of(score) > content_ratio * of(baseline);
    };
    if (of(HeadScore::previous) > neighbour_least) return HeadType::previous;
    if (of(HeadScore::next) > neighbour_least) return HeadType::next;
    if (positional_share >= one_offset_least) return HeadType::one_offset;
    if (stands_out(HeadScore::duplicate, HeadScore::duplicate_baseline)) return HeadType::duplicate;
    if (stands_out(HeadScore::induction, HeadScore::induction_baseline)) return HeadType::induction;
    const double top = of(HeadScore::sink_weight);
    return top > sink_least && !(top <= content_ratio * of(HeadScore::sink_baseline)) ? HeadType::sink
                                                                                      : HeadType::other;
  }
};

std::vector<Field> head_type_fields(const HeadTypeSum& sum, const Site& site) {
  const Matrix scores = sum.scores.value(), argmax_share = sum.argmax_share.value();
  std::vector<ScoredHead> found;
  std::vector<HeadType> types;
  for (Index row = 0; row < site.grid.rows(); ++row) {
    ScoredHead& one = found.emplace_back(ScoredHead{scores.col(row)});
    one.set_one_offset(argmax_share.row(row).transpose());
    types.push_back(sum.documents < least_documents ? HeadType::undefined : one.type());
  }
  const bool cross = site.kind == AttentionKind::cross, causal = site.kind == AttentionKind::causal;
  const Index reach = argmax_share.cols() / 2;
  const std::vector<Axis> heads{layer_axis(site.grid.layers), head_axis(site.grid.heads)};
  const char* const ties = "the smaller |t|, then the left offset";
  Fields fields("head_types");
  fields
      .flags("kind", heads, "type of a head", types,
             {"other", "previous", "next", "one offset (Voita)", "duplicate", "induction", "sink", "undefined"})
      .note("documents", sum.documents)
      .note("least_documents", least_documents)
      .note(
          "rule",
          fmt::format(
              "the first that holds: previous > {0}; next > {0}; one offset: positional_share >= {1}; duplicate > {2} "
              "and > {3} duplicate_baseline; induction > {2} and > {3} induction_baseline; "
              "sink_weight > {4} and > {3} sink_weight_baseline; else other",
              neighbour_least, one_offset_least, content_least, content_ratio, sink_least))
      .note("source",
            "previous, next: Clark et al. 2019; one offset: Voita et al. 2019, who say positional; sink: Gu et al. "
            "2025; duplicate, induction and the order: this project's choice");
  fields
      .add("argmax_share", {heads[0], heads[1], offset_axis("offset", -reach, reach)}, "1",
           "share of queries whose largest weight is at an offset", argmax_share)
      .undefined_if_any(cross ? other_sequence : no_attention)
      .note("ties", ties);
  fields
      .add("positional_share", heads, "1", "largest share of queries whose largest weight is at one offset",
           found | std::views::transform(&ScoredHead::positional_share))
      .undefined_if_any(cross ? other_sequence : no_attention)
      .note("ties", ties)
      .note("threshold", one_offset_least)
      .note("source", "Voita et al. 2019");
  fields
      .add("positional_offset", heads, "token", "the offset of positional_share",
           found | std::views::transform(&ScoredHead::positional_offset))
      .undefined_if_any(cross ? other_sequence
                              : "no query has its largest weight within reach; or the offset is the "
                                "end of the reach, and its share is not more than half")
      .note("ties", ties);
  for (Index score = 0; score < std::ssize(score_texts); ++score) {
    const ScoreText& text = score_texts[static_cast<std::size_t>(score)];
    const auto which = static_cast<HeadScore>(score);
    const bool next = which == HeadScore::next || which == HeadScore::next_baseline;
    fields.add(text.name, heads, text.unit, text.long_name, scores.row(score))
        .undefined_if_any(cross && text.compares ? other_sequence
                          : causal && next       ? hidden_next
                                                 : text.undefined);
    if (text.threshold > 0) fields.note("threshold", text.threshold);
    if (text.threshold == content_least) fields.note("baseline_ratio", content_ratio);
    if (text.source != nullptr) fields.note("source", text.source);
  }
  fields.add("sink_position", heads, "token", "position of the key of sink_weight in the first document",
             sum.sink_position.value.value_or(std::vector<Index>()), std::string("-1: ") + no_attention);
  return fields.taken();
}

}  // namespace

Vector even_attention(Index queries, Index keys, AttentionKind kind, Index window, Index chunk) {
  const bool causal = kind == AttentionKind::causal;
  Eigen::RowVectorXd columns = Eigen::RowVectorXd::Zero(keys + 1);  // differences, summed up below
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
  Vector even = Vector::Constant(even_scores, not_defined);
  if (kind != AttentionKind::cross && queries > 1) {
    even[0] = previous / static_cast<double>(queries - 1);
    if (!causal) even[1] = next / static_cast<double>(queries - 1);
  }
  even[2] = mean_weights(columns.head(keys), queries, kind).maxCoeff();
  return even;
}

extern const AnalysisKind head_types_analysis{
    .name = "head_types",
    .asks = "What is each head called: previous, next, duplicate, induction, sink?",
    .of_sums = true,
    .by_default = true,
    .make = make_of<AnalysisByLook<HeadTypeLook, head_type_fields>>};

}  // namespace headwave
