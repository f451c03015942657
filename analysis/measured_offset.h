#pragma once

#include <cstdint>

#include "headwave/analysis/offset_trace.h"

namespace headwave {

/// Whether a head's attention singles out an offset.
enum class OffsetStatus : std::uint8_t {
  offset,  ///< yes
  self,  ///< its maximum is at t = 0, which shuffled positions leave in place: it may look at itself or at equal words
  flat,  ///< no: the maximum does not rise above the null
};

struct MeasuredOffsetOptions {
  double level = 0.01;  ///< chance that a head without a preference is given an offset; over all |t| <= reach together
};

/// Where attention lands, per head, and whether that can be told from chance. One matrix for each kind of Pairs.
struct MeasuredOffsets {
  HeadGrid grid;
  Index reach = 0;
  double level = 0.0;
  std::array<Vector, pairs_kinds> offset;     ///< (rows) tokens; NaN where the status is not `offset`
  std::array<Vector, pairs_kinds> weight;     ///< (rows) largest mean attention weight over |t| <= reach
  std::array<Vector, pairs_kinds> threshold;  ///< (rows) what it had to exceed, at its own offset
  std::array<std::vector<OffsetStatus>, pairs_kinds> status;  ///< (rows)
};

/// The offset at which a head's attention is largest.
///
///     t^ = argmax_{|t| <= reach} mean over documents of tr_t / count_t                        (1)
///
/// It counts only where the maximum exceeds the head's own null by z standard deviations, z the normal quantile at
/// 1 - level / (2 reach + 1), so that a head without a preference is given an offset with probability `level` at most
/// (the null's mean of many weights is close to normal; for a single short document it is not quite). Ties go to the
/// smaller |t|. Text has order of its own: a head that attends to equal words shows the distance at which words recur.
/// The shuffled queries of the null keep no such order, so what is called an offset here need not come from position
/// embeddings.
///
/// Source: Yamamoto and Matsuzaki 2023, section 3.1, for the trace; the null is described with OffsetTraceProbe.
MeasuredOffsets measured_offsets(const OffsetTraces& traces, const MeasuredOffsetOptions& options = {});

/// Fields measured_offset/...
std::vector<Field> describe(const MeasuredOffsets& measured);

}  // namespace headwave
