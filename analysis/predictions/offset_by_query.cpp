#include "offset_by_query.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <ranges>
#include <utility>

#include <fmt/format.h>

#include "../../core/fields/fields.h"

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

/// Sums of weights beyond the reach over one or several bands, and numbers of queries, document by document.
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

/// Omits documents without queries in these bands.
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
  const Vector share = shares.share(std::vector<double>(shares.beyond.size(), 1.0));
  const auto resampled = [&](const std::vector<double>& times) { return shares.share(times); };
  const BootstrapInterval ends = bootstrap_interval(share, std::ssize(shares.beyond), options, random, resampled);
  return {share, ends.lower, ends.upper};
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

}  // namespace

OffsetByQuery offset_by_query(const HeadGrid& grid, const QueryBands& bands, const OffsetByQuerySums& sums,
                              const OffsetByQueryOptions& options) {
  check(grid, bands, sums);
  OffsetByQuery found;
  found.grid = grid;
  found.bands = bands;
  found.options = options;
  found.bins = offset_bins(bands.length(), options.reach, bands.causal());
  found.queries = sums.total.queries;
  set_profiles(sums.total, found);
  set_shares(sums, found);
  return found;
}

namespace {

constexpr Index most_bands = 8;  // enough to see where an alias begins, with many queries in each

class BandProbe : public BandTraceProbe {
 public:
  using BandTraceProbe::BandTraceProbe;
  [[nodiscard]] OffsetByQuerySums taken() { return OffsetByQuerySums(BandTraceProbe::taken()); }
};

class OffsetByQueryAnalysis : public AnalysisOf<OffsetByQuerySums> {
 public:
  explicit OffsetByQueryAnalysis(const AnalysisInput& input)
      : AnalysisOf(input), bands_(input.longest, most_bands, input.site.kind == AttentionKind::causal) {}

  [[nodiscard]] std::unique_ptr<Look> look(const Document& document, Index /*i*/) const override {
    return look_of<BandProbe>(site().grid, bands_, options().reach, site().kind,
                              special_positions(document, site().kind));
  }

 protected:
  [[nodiscard]] std::vector<Field> finish_sum(OffsetByQuerySums& sum, Finished& /*finished*/) override {
    OffsetByQueryOptions how;
    how.reach = options().reach;
    how.resamples = options().resamples;
    how.seed = options().seed;
    how.threads = input().threads;
    return describe(offset_by_query(site().grid, bands_, sum, how));
  }

 private:
  QueryBands bands_;
};

/// Moves the axis of bands behind the axis of heads.
template <class Of>
Matrix by_head(const std::vector<ShareInterval>& bands, const Of& of) {
  Matrix matrix(std::invoke(of, bands.front()).size(), std::ssize(bands));
  for (Index band = 0; band < matrix.cols(); ++band)
    matrix.col(band) = std::invoke(of, bands[static_cast<std::size_t>(band)]);
  return matrix;
}

std::vector<Matrix> by_head(const std::vector<Matrix>& profile, Index rows) {
  std::vector<Matrix> heads(static_cast<std::size_t>(rows),
                            Matrix(std::ssize(profile), profile.empty() ? 0 : profile.front().cols()));
  for (std::size_t band = 0; band < profile.size(); ++band)
    for (std::size_t row = 0; row < heads.size(); ++row)
      heads[row].row(static_cast<Index>(band)) = profile[band].row(static_cast<Index>(row));
  return heads;
}

/// Axes with their coordinates.
struct Axes {
  Axis band, bin;

  explicit Axes(const OffsetByQuery& found)
      : band{"query_band", "token", "first query position of a band", std::vector<std::int64_t>()},
        bin{"offset_bin", "token", "offset, key minus query; beyond the reach the middle of several",
            std::vector<double>()} {
    for (Index b = 0; b < found.bands.count(); ++b)
      std::get<std::vector<std::int64_t>>(band.values).push_back(found.bands.first(b));
    for (const OffsetBin& one : found.bins) std::get<std::vector<double>>(bin.values).push_back(one.middle());
  }
};

constexpr const char* no_key = "no query of the band has a key there";
constexpr const char* no_far_key = "no query of the band has a key beyond the reach";
constexpr const char* few_documents =
    "fewer than 5 documents have queries there; or no query has a key beyond the reach";

void add_bands(Fields& fields, const OffsetByQuery& found, const Axes& axes) {
  std::vector<Index> ends;
  for (Index b = 0; b < found.bands.count(); ++b) ends.push_back(found.bands.end(b) - 1);
  fields.add("band_last", {axes.band}, "token", "last query position of a band", ends);
  fields.add("queries", {axes.band}, "1", "queries of a band, all documents together", found.queries);
  fields.add("documents_with_queries", {axes.band}, "1", "documents that have queries in a band", found.documents);
  fields.add("bin_first", {axes.bin}, "token", "first offset of a bin",
             found.bins | std::views::transform(&OffsetBin::first));
  fields.add("bin_last", {axes.bin}, "token", "last offset of a bin",
             found.bins | std::views::transform(&OffsetBin::last));
  fields.add("keys", {axes.band, axes.bin}, "1", "keys that a query has in a bin, mean over the band's queries",
             found.keys);
  fields
      .add("uniform_share", {axes.band}, "1", "share beyond the reach of a head that gives all keys equal weights",
           found.uniform)
      .note("reach", found.options.reach);
}

void add_shares(Fields& fields, const OffsetByQuery& found, const Axes& axes, const std::vector<Axis>& heads) {
  std::vector<Axis> bands = heads;
  bands.push_back(axes.band);
  fields.add("share_beyond", heads, "1", "share of all attention that lands beyond the reach", found.beyond_all.share,
             "no query has a key beyond the reach");
  fields.interval("share", heads, found.beyond_all.lower, found.beyond_all.upper, few_documents);
  fields.add("special_share", heads, "1",
             "share of attention that lands beyond the reach on special tokens or the first token", found.special_all,
             "no query has a key beyond the reach");
  fields.add("band_share", bands, "1", "share of a band's attention that lands beyond the reach",
             by_head(found.beyond, &ShareInterval::share), no_far_key);
  fields.interval("band", bands, by_head(found.beyond, &ShareInterval::lower),
                  by_head(found.beyond, &ShareInterval::upper), few_documents);
  fields.add("band_special", bands, "1",
             "share of attention that lands beyond the reach on special tokens or the first token", found.special,
             no_far_key);
}

}  // namespace

std::vector<Field> describe(const OffsetByQuery& found) {
  const Axes axes(found);
  const std::vector<Axis> heads{layer_axis(found.grid.layers), head_axis(found.grid.heads)};
  std::vector<Axis> profile = heads;
  profile.push_back(axes.band);
  profile.push_back(axes.bin);
  Fields fields("offset_by_query");
  fields
      .add("profile", profile, "1", "attention weight of a query summed over a bin of offsets, mean over the band",
           by_head(found.profile, found.grid.rows()), no_key)
      .note("normalisation", "over the bins of a band it sums to 1");
  add_shares(fields, found, axes, heads);
  add_bands(fields, found, axes);
  fields.note_all("reach", found.options.reach)
      .note_all("coverage", found.options.coverage)
      .note_all("resamples", found.options.resamples)
      .note_all("seed", static_cast<std::int64_t>(found.options.seed))
      .note_all("documents", "of any length, from their first token on; every query counts alike");
  return fields.taken();
}

const AnalysisKind& offset_by_query_analysis() {
  static const AnalysisKind kind{.name = "offset_by_query",
                                 .asks = "Where do heads look, near and far, from early and late queries?",
                                 .needs = {Need::attention},
                                 .one_sequence = true,
                                 .make = make_of<OffsetByQueryAnalysis>};
  return kind;
}

}  // namespace headwave
