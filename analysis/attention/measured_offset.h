#pragma once

#include <cstdint>

#include "../pass/analysis.h"
#include "offset_trace.h"

namespace headwave {

/// Whether a head attends to one offset more than chance would explain.
enum class OffsetStatus : std::uint8_t {
  offset,     ///< yes
  own_token,  ///< its maximum is at t = 0, which shuffled positions leave in place: the query's own token
  flat,       ///< no: the maximum does not rise above the null
  edge,       ///< it does, but lies at the end of the search: it may be larger beyond, so it is no estimate
};

struct MeasuredOffsetOptions {
  double level = 0.01;  ///< about the chance that a head without a preference is given an offset
  bool cross = false;   ///< cross-attention: no token meets itself, and t = 0 is an offset like any other
};

/// Where the attention of each head lands, and whether that differs from chance. One vector for each kind of
/// Pairs.
struct MeasuredOffsets {
  HeadGrid grid;
  Index reach = 0;
  double level = 0.0;
  std::array<Vector, pairs_kinds> offset;     ///< (rows) tokens; NaN where the status is not `offset`
  std::array<Vector, pairs_kinds> weight;     ///< (rows) largest mean attention weight over |t| <= reach
  std::array<Vector, pairs_kinds> threshold;  ///< (rows) threshold at that offset
  std::array<Vector, pairs_kinds> chance;     ///< (rows) weight expected there if queries are shuffled; NaN: no null
  std::array<std::vector<OffsetStatus>, pairs_kinds> status;  ///< (rows)
};

/// The offset at which a head's attention is largest, and whether it can be told from chance.
///
///     W(t) = mean over documents d of tr_t(A_d) / c_d(t),   c_d(t) the number of pairs at offset t      (1)
///     t^ = argmax W(t) over |t| <= reach, |t| <= (T-1)/2                                                (2)
///
/// At most half the length is searched, since longer offsets have few pairs. Ties go to the smaller |t|.
///
/// The null. A model has one table of positions, the same in every document. What a head owes to its order
/// would be lost if the places came in another order p, and the null asks what W(t^) is then:
///
///     W_p(t) = mean over d of tr_t(A_d[p(i), p(j)]) / c_d(t),   one p for all documents of a draw       (3)
///
/// Drawing another order for each document would be wrong. A table of noise ties some pairs of places
/// together by accident. Independent orders would average the accident away, as if each document had a table
/// of its own; yet it is in W at every N, while the null shrinks as 1/sqrt(N): over many documents every head
/// would stand out.
///
/// Moments of (3), without drawing p. In one document each key keeps the weights it gets from others, and
/// which query gives which weight is shuffled; with e_d(t), v_d(t) and w_d(t) the mean, variance and third
/// central moment of tr_t(A_d) / c_d(t) (offset_trace_probe.h gives them in closed form, under a causal mask
/// too),
///
///     E[W_p]   = mean of e_d                                                                            (4)
///     Var[W_p] = [(1 - r) sum v_d + r (sum sqrt v_d)^2] / N^2                                           (5)
///
/// r is how far two documents agree about which pairs of places belong together: the correlation of A_d[i, j]
/// and A_d'[i, j], what a key draws from everybody taken away, over a sample of pairs
/// (document_correlation.h). For equal v_d (5) is v (1 + (N - 1) r) / N: for r = 0 N documents are N draws,
/// for r = 1 they are one. As N grows the null keeps the spread sqrt(r v) of what the documents share, so
/// that no number of documents turns noise into an offset. The third moment follows in the same way. What a
/// text has in common with others at the same place counts in r too, and so does a document that comes twice.
///
///     W(t^) > E + sqrt(Var) (z + skewness (z^2 - 1) / 6),   z normal at 1 - level / (number of offsets) (6)
///
/// (6) is Bonferroni's bound over the offsets searched: about `level` of the heads whose places could as well
/// stand in another order are given an offset. Only about: where a few keys carry most of the attention, the
/// sum is far from normal even with its skewness corrected.
///
/// (3) leaves three things in place. The token itself: a head may look at itself, or at equal words, whatever
/// the order; a maximum at t = 0 is `own token`. The end of the search: a maximum there is `edge`, since a wider
/// one may find more; of four tokens, where |t| <= 1 is searched, only offset 0 can be told. Documents of
/// unequal length: two share at most the pairs of the shorter one, and (5) takes that as all, so that it errs
/// towards no offset.
///
/// (6) says neither that the offset is strong nor that it comes from positions. Text has an order of its own,
/// which p destroys as well: a head that looks for equal words shows the distance at which words recur.
///
/// Source: Yamamoto and Matsuzaki 2023, section 3.1, for the trace; Hoeffding 1951 for moments under
/// permutations; Kish 1965 for (5); Cornish and Fisher 1938 for the skewness.
/// @throws NumericError if level / (number of offsets) is not between 0 and 1
MeasuredOffsets measured_offsets(const OffsetTraces& traces, const MeasuredOffsetOptions& options = {});

/// Fields measured_offset/...
std::vector<Field> describe(const MeasuredOffsets& measured);

/// In a job: offset_trace/... and measured_offset/... Keeps OffsetTraces and MeasuredOffsets for analyses
/// that read them.
extern const AnalysisKind measured_offset_analysis;

}  // namespace headwave
