#pragma once

#include <cstdint>

#include "../pass/analysis.h"
#include "offset_trace.h"

namespace headwave {

/// Whether a head attends to one offset more than chance would explain.
enum class OffsetStatus : std::uint8_t {
  offset,     ///< the maximum is above chance
  own_token,  ///< the maximum is at t = 0, the query's own token, which shuffled positions leave in place
  flat,       ///< the maximum is not above chance
  edge,       ///< the maximum is above chance, but at the end of the search; a larger one may lie beyond
};

struct MeasuredOffsetOptions {
  double level = 0.01;  ///< approximate chance that a head without a preference is given an offset
  bool cross = false;   ///< cross-attention: no token meets itself, so t = 0 is an offset like any other
};

/// Offset of each head's largest attention, tested against chance, with one vector for each kind of Pairs.
struct MeasuredOffsets {
  HeadGrid grid;
  Index reach = 0;
  double level = 0.0;
  std::array<Vector, pairs_kinds> offset;     ///< (rows) tokens; NaN where the status is not `offset`
  std::array<Vector, pairs_kinds> weight;     ///< (rows) largest mean attention weight over |t| <= reach
  std::array<Vector, pairs_kinds> threshold;  ///< (rows) threshold (6) at that offset
  std::array<Vector, pairs_kinds> chance;     ///< (rows) expected weight there if queries are shuffled; NaN: no null
  std::array<std::vector<OffsetStatus>, pairs_kinds> status;  ///< (rows)
};

/// Finds the offset at which a head's attention is largest, and tests it against chance.
///
///     W(t) = mean over documents d of tr_t(A_d) / c_d(t),   c_d(t) the number of pairs at offset t      (1)
///     t^ = argmax W(t) over |t| <= reach, |t| <= (T-1)/2                                                (2)
///
/// At most half the length is searched, since larger offsets have few pairs. Ties go to the smaller |t|.
///
/// The null. A model has one table of positions, the same in every document. In another order p of the
/// positions, a head would lose all that depends on their order. The null is W(t^) under random p:
///
///     W_p(t) = mean over d of tr_t(A_d[p(i), p(j)]) / c_d(t),   one p for all documents of a draw       (3)
///
/// It would be wrong to draw a different order for each document. Even a table of random noise links some
/// pairs of positions by accident, and W contains these links however large the number N of documents is.
/// Independent orders would average the links out, as if each document had its own table. The null would
/// shrink as 1/sqrt(N), and with many documents every head would stand out.
///
/// The moments of (3) are computed without drawing p. In one document, each key keeps the weights that it
/// gets from other tokens, but random queries give them. Let e_d(t), v_d(t) and w_d(t) be the mean, variance
/// and third central moment of tr_t(A_d) / c_d(t), in closed form from OffsetTraceProbe. Then
///
///     E[W_p]   = mean of e_d                                                                            (4)
///     Var[W_p] = [(1 - r) sum v_d + r (sum sqrt v_d)^2] / N^2                                           (5)
///
/// r says how far two documents agree about which pairs of positions get much attention. It is the
/// correlation of A_d[i, j] and A_d'[i, j] over a sample of pairs, after removing what a key draws from all
/// queries alike (document_correlation.h). For equal v_d, (5) is v (1 + (N - 1) r) / N. N documents count as
/// N draws if r is 0, and as one draw if r is 1. For large N the null keeps the spread sqrt(r v) that all
/// documents share, so no number of documents turns noise into an offset. r also grows if texts have
/// something in common at a position, or if documents occur twice. The third moment follows likewise.
///
///     W(t^) > E + sqrt(Var) (z + skewness (z^2 - 1) / 6),   z normal at 1 - level / (number of offsets) (6)
///
/// A negative skewness counts as 0. (6) is Bonferroni's bound over the offsets searched: if the order of
/// positions does not matter to a head, the head gets an offset with a probability of about `level`. If a few
/// keys carry most of the attention, the sum is far from normal even after this correction for skewness.
///
/// Limits. A head can look at its own token in any order of positions, so a maximum at t = 0 is `own_token`.
/// A maximum at the end of the search is `edge`, since a wider search may find a larger one. With four tokens
/// only |t| <= 1 is searched, so only offset 0 can be found. Two documents of unequal length share at most
/// the pairs of the shorter one, but (5) assumes all pairs, so offsets are harder to find.
///
/// (6) says neither that the offset is strong nor that it comes from positions. Text has an order of its own,
/// which p destroys, too: a head that looks for equal words shows the distance at which words recur.
///
/// Source: Yamamoto and Matsuzaki 2023, section 3.1, for the trace; Hoeffding 1951 for moments under
/// permutations; Kish 1965 for (5); Cornish and Fisher 1938 for the skewness.
/// @throws NumericError if level / (number of offsets) is not between 0 and 1
MeasuredOffsets measured_offsets(const OffsetTraces& traces, const MeasuredOffsetOptions& options = {});

/// Fields measured_offset/...
std::vector<Field> describe(const MeasuredOffsets& measured);

/// In a job it gives Fields offset_trace/..., measured_offset/..., and keeps OffsetTraces, MeasuredOffsets.
extern const AnalysisKind measured_offset_analysis;

}  // namespace headwave
