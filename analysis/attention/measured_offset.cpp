#include "measured_offset.h"

#include <cmath>
#include <limits>
#include <utility>

#include "../../core/fields/fields.h"
#include "../../core/numbers/offset_peak.h"
#include "../statistics/quantile.h"

namespace headwave {

namespace {

struct MeasuredOffsetAnalysis : AnalysisOf<OffsetTraceSum> {
  explicit MeasuredOffsetAnalysis(const AnalysisInput& input)
      : AnalysisOf(input), pairs_(input.longest, input.site.kind) {}

  [[nodiscard]] std::unique_ptr<Look> look(const Document& document, Index /*i*/) const override {
    return look_of<OffsetTraceProbe>(site().grid, document, options().reach, site().kind, input().longest, &pairs_);
  }
  [[nodiscard]] std::vector<Field> finish_sum(OffsetTraceSum& sum, Finished& finished) override {
    const OffsetTraces& traces = finished.keep(offset_traces(std::move(sum), site().grid));
    std::vector<Field> fields = describe(traces);
    append(fields,
           describe(finished.keep(measured_offsets(traces, {options().level, site().kind == AttentionKind::cross}))));
    return fields;
  }

 private:
  PlacePairs pairs_;
};

}  // namespace

MeasuredOffsets measured_offsets(const OffsetTraces& traces, const MeasuredOffsetOptions& options) {
  const Index rows = traces.grid.rows();
  const Index near = std::min(traces.reach, (traces.length - 1) / 2);
  const double z = normal_quantile(options.level / static_cast<double>(2 * near + 1));
  MeasuredOffsets measured{traces.grid, near, options.level, {}, {}, {}, {}, {}};
  for (std::size_t kind = 0; kind < pairs_kinds; ++kind) {
    for (auto* numbers : {&measured.offset, &measured.weight, &measured.threshold, &measured.chance})
      (*numbers)[kind] = Vector::Constant(rows, std::nan(""));
    measured.status[kind].assign(static_cast<std::size_t>(rows), OffsetStatus::flat);
    for (Index row = 0; row < rows; ++row) {
      const Vector weight = traces.weight[kind].row(row).segment(traces.length - 1 - near, 2 * near + 1).transpose();
      const OffsetPeak peak = offset_peak(weight).value_or(OffsetPeak{});
      const Index t = peak.offset, column = t + near;
      const double mean = traces.null_weight[kind](row, t + traces.reach);
      const double deviation = traces.null_deviation[kind](row, t + traces.reach),
                   skewness = traces.null_skewness[kind](row, t + traces.reach);
      const double threshold = mean + deviation * (z + std::max(0.0, skewness) * (z * z - 1) / 6);
      // If each key gets equal weights from all queries, the null has no spread: only rounding exceeds it.
      const double rounding = 8 * std::numeric_limits<float>::epsilon() * mean;
      measured.weight[kind][row] = weight[column];
      measured.chance[kind][row] = mean;
      measured.threshold[kind][row] = threshold;
      OffsetStatus& status = measured.status[kind][static_cast<std::size_t>(row)];
      if (weight[column] > threshold + rounding)
        status = t == 0 && !options.cross ? OffsetStatus::own_token
                 : peak.at_edge           ? OffsetStatus::edge
                                          : OffsetStatus::offset;
      if (status == OffsetStatus::offset) measured.offset[kind][row] = static_cast<double>(t);
    }
  }
  return measured;
}

std::vector<Field> describe(const MeasuredOffsets& measured) {
  const std::vector<Axis> axes{pairs_axis(), layer_axis(measured.grid.layers), head_axis(measured.grid.heads)};
  Fields fields("measured_offset");
  fields
      .add("offset", axes, "token", "offset at which the mean attention weight is largest", measured.offset,
           "status is own token or flat: the maximum cannot be told from shuffled positions; or edge: it lies at "
           "the end of the search, |t| = reach")
      .note("reach", measured.reach)
      .note("level", measured.level);
  fields.flags("status", axes, "whether the head singles out an offset", measured.status,
               {"offset", "own token", "flat", "edge"});
  fields.add("weight", axes, "1", "largest mean attention weight within reach", measured.weight);
  fields.add("threshold", axes, "1", "weight that a head without a preference stays below", measured.threshold);
  fields.add("chance", axes, "1", "weight expected at that offset if the queries are shuffled", measured.chance,
             "the documents have too few pairs at that offset for a null");
  return fields.taken();
}

extern const AnalysisKind measured_offset_analysis{
    .name = "measured_offset",
    .asks = "At which offset does each head look most, and does it stand out from the null?",
    .of_sums = true,
    .always = true,
    .make = make_of<MeasuredOffsetAnalysis>};

}  // namespace headwave
