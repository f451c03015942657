#include "offset_by_query.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/format.h>

#include "../../core/bytes/append.h"
#include "../../core/process/threads.h"
#include "../statistics/bootstrap.h"
#include "../statistics/tails.h"

namespace headwave {

namespace {

void check(const HeadGrid& grid, const QueryBands& bands, const OffsetByQuerySums& sums) {
  if (sums.beyond.empty()) throw ShapeError("offset_by_query: there is no document");
  if (sums.total.weight.rows() != grid.rows() || sums.total.weight.cols() != bands.columns() ||
      sums.beyond.size() != sums.queries.size())
    throw ShapeError(fmt::format("offset_by_query: sums of {} heads over {} diagonals; expected {} and {}",
                                 sums.total.weight.rows(), sums.total.weight.cols(), grid.rows(), bands.columns()));
  if (!are_finite(sums.total.weight))
    throw NumericError(
        "offset_by_query: an attention weight is not finite; look for NaN or huge values in the model's weights");
}

void set_profiles(const BandTraces& total, OffsetByQuery& found) {
  const QueryBands& bands = found.bands;
  const auto bins = static_cast<Index>(found.bins.size());
  found.keys = Matrix::Zero(bands.count(), bins);
  for (Index band = 0; band < bands.count(); ++band) {
    Matrix profile = Matrix::Constant(found.grid.rows(), bins, not_defined);
    for (Index bin = 0; bin < bins; ++bin) {
      const OffsetBin& offsets = found.bins[static_cast<std::size_t>(bin)];
      const Index first = std::max(offsets.first, bands.lowest(band)),
                  last = std::min(offsets.last, bands.highest(band));
      if (first > last) continue;
      const Index column = bands.column(band, first), count = last - first + 1;
      found.keys(band, bin) = total.pairs.segment(column, count).sum() / total.queries[band];
      if (found.keys(band, bin) > 0)
        profile.col(bin) = total.weight.middleCols(column, count).rowwise().sum() / total.queries[band];
    }
    found.profile.push_back(std::move(profile));
  }
}

/// Documents' sums of weights beyond the reach, over a band or several, and the queries that they are of.
struct SharesByDocument {
  std::vector<Vector> beyond;   ///< [document] (rows)
  std::vector<double> queries;  ///< [document]

  [[nodiscard]] Vector share(const std::vector<double>& times) const {
    Vector sum = Vector::Zero(beyond.front().size());
    double all = 0;
    for (std::size_t d = 0; d < times.size(); ++d) {
      sum += times[d] * beyond[d];
      all += times[d] * queries[d];
    }
    return sum / all;
  }
};

/// Documents without queries in those bands do not count.
SharesByDocument shares_of(const OffsetByQuerySums& sums, Index first_band, Index bands) {
  SharesByDocument shares;
  for (std::size_t d = 0; d < sums.beyond.size(); ++d) {
    const double queries = sums.queries[d].segment(first_band, bands).sum();
    if (queries == 0) continue;
    shares.beyond.emplace_back(sums.beyond[d].middleCols(first_band, bands).rowwise().sum());
    shares.queries.push_back(queries);
  }
  return shares;
}

ShareInterval interval_of(const SharesByDocument& shares, const OffsetByQueryOptions& options, const Random& random) {
  const auto documents = static_cast<Index>(shares.beyond.size());
  ShareInterval result;
  result.share = shares.share(std::vector<double>(shares.beyond.size(), 1.0));
  result.lower = result.upper = Vector::Constant(result.share.size(), not_defined);
  if (documents < std::max<Index>(2, options.least_documents) || options.resamples < 2) return result;
  Matrix drawn(result.share.size(), options.resamples);
  parallel_for(options.resamples, options.threads, [&](Index resample) {
    Random own = random.stream(static_cast<std::uint64_t>(resample));
    drawn.col(resample) = shares.share(drawn_times(documents, own));
  });
  const BootstrapInterval ends = bootstrap_interval(drawn, result.share, documents, options.coverage);
  result.lower = ends.lower;
  result.upper = ends.upper;
  return result;
}

void set_shares(const OffsetByQuerySums& sums, OffsetByQuery& found) {
  const Random random(found.options.seed);
  const Index bands = found.bands.count(), rows = found.grid.rows();
  const Vector none = Vector::Constant(rows, not_defined);
  found.uniform = sums.total.uniform.cwiseQuotient(sums.total.queries);
  found.special = sums.total.special;
  for (Index band = 0; band < bands; ++band) {
    const SharesByDocument shares = shares_of(sums, band, 1);
    found.documents.push_back(std::ssize(shares.queries));
    found.special.col(band) /= sums.total.queries[band];
    if (found.uniform[band] > 0) {
      found.beyond.push_back(interval_of(shares, found.options, random.stream(static_cast<std::uint64_t>(band))));
    } else {
      found.beyond.push_back({none, none, none});
      found.special.col(band) = none;
    }
  }
  found.beyond_all = {none, none, none};
  found.special_all = none;
  if (sums.total.uniform.sum() == 0) return;
  found.beyond_all =
      interval_of(shares_of(sums, 0, bands), found.options, random.stream(static_cast<std::uint64_t>(bands)));
  found.special_all = sums.total.special.rowwise().sum() / sums.total.queries.sum();
}

/// What the mean queries and keys of one layer attend to; queries of each half against keys of the other.
BandTraces position_traces(const AccountHalves& halves, std::size_t place, const OffsetByQuery& found) {
  const HeadGrid heads{{0}, found.grid.heads};
  BandTraces both(heads.rows(), found.bands);
  for (std::size_t h = 0; h < 2; ++h) {
    const AccountHalf &one = halves.halves[h], &other = halves.halves[1 - h];
    BandTraceProbe probe(heads, found.bands, found.options.peaks.reach, halves.site.kind);
    std::array<Probe*, 1> probes{&probe};
    attend_layer(halves.site, place, one.layers[place].query / static_cast<float>(one.documents),
                 other.layers[place].key / static_cast<float>(other.documents), {}, probes);
    both += probe.taken();
  }
  return both;
}

/// Whether the position term, attended by itself, brings a peak about.
PeakSource source_of(const BandPeak& peak, const BandTraces& position, const OffsetByQuery& found, Index head,
                     Index band) {
  const double queries = position.queries[band], z = normal_quantile(found.options.peaks.level / 3);
  if (queries == 0) return PeakSource::unknown;
  for (Index t = peak.offset - 1; t <= peak.offset + 1; ++t) {
    const double excess = band_excess(position, found.bands, head, band, t);
    if (!(excess >= 0.5 * peak.excess)) continue;  // as it is where no pair is there
    if (excess * queries > z * std::sqrt(position.variance(head, found.bands.column(band, t))))
      return PeakSource::position;
  }
  return PeakSource::other;
}

void set_peaks(const BandTraces& total, const AccountHalves* halves, OffsetByQuery& found) {
  const auto rows = static_cast<std::size_t>(found.grid.rows());
  found.peaks.resize(rows);
  found.source.resize(rows);
  const bool known = halves != nullptr && halves->halves[1].documents > 0;
  parallel_for(std::ssize(found.grid.layers), found.options.threads, [&](Index layer) {
    const bool placeless = halves != nullptr && !halves->site.tells_places(static_cast<std::size_t>(layer));
    const BandTraces position =
        known ? position_traces(*halves, static_cast<std::size_t>(layer), found) : BandTraces(0, found.bands);
    for (Index head = 0; head < found.grid.heads; ++head) {
      const auto row = static_cast<std::size_t>(layer * found.grid.heads + head);
      found.peaks[row] = band_peaks(total, found.bands, static_cast<Index>(row), found.options.peaks);
      for (Index band = 0; band < found.bands.count(); ++band) {
        std::vector<PeakSource>& sources = found.source[row].emplace_back();
        for (const BandPeak& peak : found.peaks[row][static_cast<std::size_t>(band)])
          sources.push_back(placeless ? PeakSource::other : source_of(peak, position, found, head, band));
      }
    }
  });
}

}  // namespace

void OffsetByQuerySums::add(const BandTraces& document) {
  beyond.push_back(document.beyond);
  queries.push_back(document.queries);
  if (total.weight.size() == 0)
    total = document;
  else
    total += document;
}

void OffsetByQuerySums::join(OffsetByQuerySums&& next) {
  append(beyond, std::move(next.beyond));
  append(queries, std::move(next.queries));
  if (total.weight.size() == 0)
    total = std::move(next.total);
  else
    total += next.total;
}

OffsetByQuery offset_by_query(const HeadGrid& grid, const QueryBands& bands, const OffsetByQuerySums& sums,
                              const AccountHalves* halves, const OffsetByQueryOptions& options) {
  check(grid, bands, sums);
  OffsetByQuery found;
  found.grid = grid;
  found.bands = bands;
  found.options = options;
  found.bins = offset_bins(bands.length(), options.peaks.reach, bands.causal());
  found.queries = sums.total.queries;
  set_profiles(sums.total, found);
  set_shares(sums, found);
  set_peaks(sums.total, halves, found);
  return found;
}

}  // namespace headwave
