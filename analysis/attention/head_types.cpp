#include "head_types.h"

#include <string>
#include <utility>

#include <fmt/format.h>

#include "../../core/fields/fields.h"
#include "../../core/numbers/offset_peak.h"

namespace headwave {

namespace {

/// Equation (2) of every head. At the end of the search a share is no largest one, unless it is more than half: shares
/// add up to 1 at most, so nothing beyond can then be larger.
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

/// The first that holds. Nothing undefined holds.
HeadType type_of(const HeadTypes& types, Index row) {
  const auto score = [&](HeadScore of) { return types.scores(static_cast<Index>(of), row); };
  const auto stands_out = [&](HeadScore of, HeadScore baseline) {
    return score(of) > types.options.content && score(of) > types.options.content_ratio * score(baseline);
  };
  if (score(HeadScore::previous) > types.options.neighbour) return HeadType::previous;
  if (score(HeadScore::next) > types.options.neighbour) return HeadType::next;
  if (types.positional_share[row] >= types.options.one_offset) return HeadType::one_offset;
  if (stands_out(HeadScore::duplicate, HeadScore::duplicate_baseline)) return HeadType::duplicate;
  if (stands_out(HeadScore::induction, HeadScore::induction_baseline)) return HeadType::induction;
  if (score(HeadScore::sink_weight) > types.options.sink) return HeadType::sink;
  return HeadType::other;
}

}  // namespace

HeadTypeSum::HeadTypeSum(HeadGrid grid, AttentionKind kind, const HeadTypeOptions& options) {
  if (options.reach < 0)
    throw ShapeError(fmt::format("HeadTypeSum: expected a reach of at least 0, {} came", options.reach));
  const Index rows = grid.rows();
  scores_ = DefinedMean(static_cast<Index>(head_scores), rows);
  argmax_share_ = DefinedMean(rows, 2 * options.reach + 1);
  position_disagreement_ = DefinedMean(static_cast<Index>(grid.layers.size()), 1);
  first_.sink_position.assign(static_cast<std::size_t>(rows), -1);
  first_.grid = std::move(grid);
  first_.kind = kind;
  first_.options = options;
}

void HeadTypeSum::add(const DocumentHeadTypes& document) {
  const Index rows = first_.grid.rows();
  if (document.scores.rows() != static_cast<Index>(head_scores) || document.scores.cols() != rows ||
      document.argmax_share.rows() != rows || document.argmax_share.cols() != argmax_share_.cols() ||
      document.position_disagreement.size() != position_disagreement_.rows() ||
      static_cast<Index>(document.sink_position.size()) != rows)
    throw ShapeError(
        fmt::format("HeadTypeSum: a document of {} heads, {} layers and {} offsets came, expected {}, {} and {}",
                    document.scores.cols(), document.position_disagreement.size(), document.argmax_share.cols(), rows,
                    position_disagreement_.rows(), argmax_share_.cols()));
  scores_.add(document.scores);
  argmax_share_.add(document.argmax_share);
  position_disagreement_.add(document.position_disagreement);
  if (first_.documents++ == 0) first_.sink_position = document.sink_position;
}

void HeadTypeSum::join(const HeadTypeSum& next) {
  scores_.join(next.scores_);
  argmax_share_.join(next.argmax_share_);
  position_disagreement_.join(next.position_disagreement_);
  if (first_.documents == 0) first_.sink_position = next.first_.sink_position;
  first_.documents += next.first_.documents;
}

HeadTypes HeadTypeSum::types() const {
  HeadTypes types = first_;
  types.scores = scores_.value();
  types.argmax_share = argmax_share_.value();
  types.position_disagreement = position_disagreement_.value();
  set_one_offset(types);
  for (Index row = 0; row < types.grid.rows(); ++row) types.types.push_back(type_of(types, row));
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
}};

/// What a head is called, and by which rule.
void add_kind(Fields& fields, const std::vector<Axis>& axes, const HeadTypes& types) {
  const HeadTypeOptions& options = types.options;
  fields
      .flags("kind", axes, "what a head is called", types.types,
             {"other", "previous", "next", "one offset (Voita)", "duplicate", "induction", "sink"})
      .note(
          "rule",
          fmt::format(
              "the first that holds: previous > {0}; next > {0}; one offset: positional_share >= {1}; duplicate > {2} "
              "and > {3} duplicate_baseline; induction > {2} and > {3} induction_baseline; "
              "sink_weight > {4}; else other",
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
  const Axis offset = offset_axis("argmax_offset", -types.options.reach, types.options.reach);
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
  fields
      .add("sink_position", {layer, head}, "token", "the key of sink_weight in the first document", types.sink_position)
      .undefined(std::string("-1: ") + no_attention);
  fields
      .add("position_disagreement", {layer}, "1",
           "disagreement of positions: minus the mean over pairs of heads of |A_a * A_b|", types.position_disagreement)
      .undefined_if_any(no_attention)
      .note("source", "Li et al. 2018")
      .note("norm", "Frobenius, over all queries and keys of a document; * is the product entry by entry");
  return fields.taken();
}

}  // namespace headwave
