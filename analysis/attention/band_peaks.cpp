#include "band_peaks.h"

#include <algorithm>

#include "../statistics/tails.h"

namespace headwave {

namespace {

bool in_band(const QueryBands& bands, Index band, Index t) {
  return t >= bands.lowest(band) && t <= bands.highest(band);
}

/// How many offsets are looked at: those beyond the reach at which there are pairs.
Index looked_at(const BandTraces& traces, const QueryBands& bands, Index reach) {
  Index count = 0;
  for (Index band = 0; band < bands.count(); ++band)
    for (Index t = bands.lowest(band); t <= bands.highest(band); ++t)
      if (std::abs(t) > reach && traces.pairs[bands.column(band, t)] > 0) ++count;
  return count;
}

/// Whether a curve of the band turns at t.
bool is_largest_around(const BandTraces& traces, const QueryBands& bands, Index row, Index band, Index t, Index apart) {
  for (const Index beside : {t - 1, t + 1})
    if (!in_band(bands, band, beside) || traces.pairs[bands.column(band, beside)] == 0) return false;
  const double here = band_excess(traces, bands, row, band, t);
  for (Index other = t - apart; other <= t + apart; ++other) {
    const double there = band_excess(traces, bands, row, band, other);
    if (there > here || (there == here && other < t)) return false;
  }
  return true;
}

}  // namespace

double band_excess(const BandTraces& traces, const QueryBands& bands, Index row, Index band, Index offset) {
  if (!in_band(bands, band, offset) || traces.queries[band] == 0) return 0;
  const Index column = bands.column(band, offset);
  return (traces.weight(row, column) - traces.expected(row, column)) / traces.queries[band];
}

std::vector<std::vector<BandPeak>> band_peaks(const BandTraces& traces, const QueryBands& bands, Index row,
                                              const BandPeakOptions& options) {
  const double tail = options.level / static_cast<double>(std::max<Index>(1, looked_at(traces, bands, options.reach)));
  std::vector<std::vector<BandPeak>> peaks(static_cast<std::size_t>(bands.count()));
  for (Index band = 0; band < bands.count(); ++band) {
    std::vector<BandPeak>& found = peaks[static_cast<std::size_t>(band)];
    for (Index t = bands.lowest(band); t <= bands.highest(band); ++t) {
      const double excess = band_excess(traces, bands, row, band, t);
      if (std::abs(t) <= options.reach || !(excess >= options.least_excess)) continue;
      const Index column = bands.column(band, t);
      const double bound = largest_excess(tail, traces.variance(row, column), traces.largest(row, band));
      if (!(excess * traces.queries[band] > bound)) continue;
      if (!is_largest_around(traces, bands, row, band, t, options.apart)) continue;
      const double pairs = traces.pairs[column];
      found.push_back({t, traces.weight(row, column) / pairs, traces.expected(row, column) / pairs, excess});
    }
    std::stable_sort(found.begin(), found.end(),
                     [](const BandPeak& a, const BandPeak& b) { return a.excess > b.excess; });
    if (std::ssize(found) > options.most) found.resize(static_cast<std::size_t>(options.most));
  }
  return peaks;
}

}  // namespace headwave
