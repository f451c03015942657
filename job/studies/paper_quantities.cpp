#include "paper_quantities.h"

#include <cmath>

#include <fmt/format.h>

#include "../../analysis/statistics/published_measures.h"

namespace headwave {

namespace {

/// What a spectrum of positions comes to.
struct PositionBand {
  double strongest = not_defined, highest = not_defined;  // cycles/T
  double slow = not_defined;                              // share below 10 cycles/T
};

PositionBand band_of_table(const RunReadings& run) {
  PositionBand band;
  const FieldRows peaks = run.rows_of("position_spectrum/peak_frequency", 0);
  if (peaks.values.size() > 0) {
    band.strongest = peaks.values(0, 0);
    band.highest = peaks.values.maxCoeff();
  }
  const FieldRows energy = run.rows_of("position_spectrum/cumulative_energy", 0);
  if (energy.values.cols() > 9) band.slow = energy.values(0, 9);
  return band;
}

/// Of rotary positions: their frequencies, as much as layers use them.
PositionBand band_of_rotation(const RunReadings& run) {
  const Vector cycles = run.rows_of("rotary_wave/cycles", 1).values.col(0);
  const Vector use = run.rows_of("rotary_wave/layer_use", 1).values.colwise().mean();
  PositionBand band;
  if (use.size() == 0 || !are_finite(use)) return band;
  Index most = 0;
  use.maxCoeff(&most);
  band.strongest = cycles[most];
  band.slow = (cycles.array() < 10).select(use, 0.0).sum();
  return band;
}

void add_positions(QuantityTable& table, const RunReadings& run) {
  const PositionBand band =
      run.rows_of("rotary_wave/cycles", 1).field != nullptr ? band_of_rotation(run) : band_of_table(run);
  table.add("strongest frequency of the positions", "cycles/T", band.strongest);
  table.add("highest peak of the positions", "cycles/T", band.highest);
  table.add("energy of the positions below 10 cycles", "ratio", band.slow);
  const FieldRows words = run.rows_of("position_spectrum/word_mean", 0);
  table.add("contrast of the word sequence", "ratio",
            words.values.size() > 0 ? band_contrast(words.values.row(0).transpose()) : not_defined);
  const FieldRows shares = run.rows_of("position_components/cumulative_share", 0);
  for (const Index components : {4, 12})
    table.add(fmt::format("variance of the positions in {} components", components), "ratio",
              shares.values.cols() >= components ? shares.values(0, components - 1) : not_defined);
}

void add_correlation(QuantityTable& table, const RunReadings& run) {
  // Rows (layer), columns (truncation, component); the last truncation is the largest.
  const FieldRows correlation = run.rows_of("position_correlation/correlation", 1);
  double high = not_defined, fall = not_defined;
  if (correlation.field != nullptr && correlation.field->axes.size() == 3) {
    const Index components = correlation.field->axes[2].size();
    const CorrelationByDepth depth = correlation_by_depth(correlation.values.rightCols(components));
    high = static_cast<double>(depth.high);
    fall = depth.fall;
  }
  table.add("highly correlated components", "count", high);
  table.add("fall of the correlation with depth", "ratio", fall);
}

/// Contrast of one layer of wave_spectra/...
double contrast_of(const RunReadings& run, const char* name, bool last_layer) {
  const FieldRows rows = run.rows_of(name, 1);
  if (rows.values.rows() == 0) return not_defined;
  return band_contrast(rows.values.row(last_layer ? rows.values.rows() - 1 : 0).transpose());
}

void add_states(QuantityTable& table, const RunReadings& run) {
  add_correlation(table, run);
  const FieldRows periodic = run.rows_of("periodic_columns/query", 2);
  table.add("periodic columns of heads with an offset", "count",
            periodic.values.rows() > 0 ? mean_with_offset(run.offsets(), periodic.values.col(0)) : not_defined);
  table.add("contrast of queries in layer 0", "ratio", contrast_of(run, "wave_spectra/query", false));
  table.add("contrast of keys in layer 0", "ratio", contrast_of(run, "wave_spectra/key", false));
  table.add("contrast of states in layer 0", "ratio", contrast_of(run, "wave_spectra/state", false));
  table.add("decay of the contrast of queries", "ratio",
            contrast_of(run, "wave_spectra/query", false) - contrast_of(run, "wave_spectra/query", true));
}

void add_named_heads(QuantityTable& table, const RunReadings& run) {
  const HeadName weak{0, 0}, right{1, 2}, left{7, 8};
  table.add("offset of L7H8", "token", run.offset(left));
  table.add("offset of L1H2", "token", run.offset(right));
  const FieldRows frequency = run.rows_of("periodic_columns/peak_frequency", 3);
  const Index components = frequency.field == nullptr ? 0 : frequency.field->axes[2].size();
  const Index fifth = run.row(weak) * components + 4;
  table.add("frequencies of columns 5 and 6 of L0H0", "cycles/T",
            components < 6 ? not_defined : std::abs(frequency.values(fifth, 0) - frequency.values(fifth + 1, 0)));
  for (const Index column : {5, 6})
    table.add(fmt::format("lag of column {} of L0H0", column), "token",
              run.peak_lag("cross_covariance/correlation", 3, fifth + column - 5));
  table.add("weighted sum of L0H0", "token", run.peak_lag("cross_covariance/weighted", 2, run.row(weak)));
  table.add("weighted sum of L7H8", "token", run.peak_lag("cross_covariance/weighted", 2, run.row(left)));
  table.add("phases of L0H0", "token", run.number("phase_delay/estimate", run.row(weak)));
  table.add("phases of L1H2", "token", run.number("phase_delay/estimate", run.row(right)));
}

/// Of heads with an offset that positions predict: the atlas', or the rotary wave's.
double mean_layer_with_offset(const RunReadings& run) {
  const FieldRows wave = run.rows_of("rotary_wave/predicted_offset", 2);
  const FieldRows offsets = wave.field != nullptr ? wave : run.rows_of("position_atlas/offset", 2);
  if (offsets.values.rows() == 0) return not_defined;
  Vector layer(offsets.values.rows());
  for (Index row = 0; row < layer.size(); ++row) layer[row] = static_cast<double>(row / run.heads());
  return mean_with_offset(offsets.values.col(0), layer);
}

}  // namespace

void add_paper_quantities(QuantityTable& table, const RunReadings& run, bool named) {
  table.add("heads in one or two clusters", "ratio", concentrated_heads(run.rows_of("head_cluster/share", 2).values));
  add_positions(table, run);
  add_states(table, run);
  if (named) add_named_heads(table, run);
  table.add("mean layer of heads with an offset", "layer", mean_layer_with_offset(run));
}

}  // namespace headwave
