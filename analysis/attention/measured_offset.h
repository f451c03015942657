#pragma once

#include <cstdint>

#include "../pass/analysis_kind.h"
#include "offset_trace.h"

namespace headwave {

/// Whether a head's attention singles out an offset.
enum class OffsetStatus : std::uint8_t {
  offset,  ///< yes
  self,  ///< its maximum is at t = 0, which shuffled positions leave in place: it may look at itself or at equal words
  flat,  ///< no: the maximum does not rise above the null
  edge,  ///< it does, but lies at the end of the search: it may be larger beyond, so it is no estimate
};

struct MeasuredOffsetOptions {
  double level = 0.01;  ///< about the chance that a head without a preference is given an offset
  bool cross = false;   ///< of cross-attention: nobody is oneself, and t = 0 is an offset like any other
};

/// Where attention lands, per head, and whether that can be told from chance. One matrix for each kind of Pairs.
struct MeasuredOffsets {
  HeadGrid grid;
  Index reach = 0;
  double level = 0.0;
  std::array<Vector, pairs_kinds> offset;     ///< (rows) tokens; NaN where the status is not `offset`
  std::array<Vector, pairs_kinds> weight;     ///< (rows) largest mean attention weight over |t| <= reach
  std::array<Vector, pairs_kinds> threshold;  ///< (rows) what it had to exceed, at its own offset
  std::array<Vector, pairs_kinds> chance;     ///< (rows) weight expected there if queries are shuffled; NaN: no null
  std::array<std::vector<OffsetStatus>, pairs_kinds> status;  ///< (rows)
};

/// The offset at which a head's attention is largest.
///
///     t^ = argmax_{|t| <= reach, |t| <= (T-1)/2} mean over documents of tr_t / count_t           (1)
///
/// It counts only where the maximum exceeds mean + deviation * (z + skewness (z^2 - 1) / 6) of the head's own null, z
/// the normal quantile at 1 - level / (number of offsets): about `level` of the heads without a preference are given
/// one. About, because a few keys may carry most of the attention, and a sum of few terms is far from normal even so;
/// believe a weight that exceeds its threshold by little only over many documents. At most half the length is searched,
/// since longer offsets have few pairs. Ties go to the smaller |t|. A maximum at the end of the search is no estimate:
/// of four tokens, where |t| <= 1 is searched, only offset 0 can be told.
///
/// An offset that can be told from chance need not be strong, and need not come from positions: text has order of its
/// own, and a head that looks for equal words shows the distance at which words recur.
///
/// Source: Yamamoto and Matsuzaki 2023, section 3.1, for the trace; Cornish and Fisher 1938 for the skewness.
/// @throws NumericError if level / (number of offsets) is not between 0 and 1
MeasuredOffsets measured_offsets(const OffsetTraces& traces, const MeasuredOffsetOptions& options = {});

/// Fields measured_offset/...
std::vector<Field> describe(const MeasuredOffsets& measured);

/// In a job: offset_trace/... and measured_offset/..., OffsetTraces and MeasuredOffsets for those who read them.
const AnalysisKind& measured_offset_analysis();

}  // namespace headwave
