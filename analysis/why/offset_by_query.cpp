// Attention by bands of query positions: the profile over all offsets, and the share beyond the reach.

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <numeric>
#include <ranges>
#include <utility>

#include "../../core/fields/fields.h"
#include "../attention/offset_trace.h"
#include "../pass/analysis.h"
#include "../pass/row_look.h"
#include "../statistics/quantile.h"

namespace headwave {

namespace {

/// Bands of neighbouring queries, and bins of offsets. A band's width is the smallest power of two with which
/// 8 bands cover the longest document, so that most jobs have the same bands. The last one ends at T.
class BandsAndBins {
 public:
  BandsAndBins(Index length, Index reach, bool causal) : length_(length), bins_(offset_bins(length, reach, causal)) {
    constexpr Index most_bands = 8;  // enough to see where an alias begins, with many queries in each
    while (width_ * most_bands < length) width_ *= 2;
    for (std::size_t bin = 0; bin < bins_.size(); ++bin)
      bin_of_.insert(bin_of_.end(), static_cast<std::size_t>(bins_[bin].last - bins_[bin].first + 1),
                     static_cast<Index>(bin));
  }

  [[nodiscard]] Index bands() const { return (length_ + width_ - 1) / width_; }
  [[nodiscard]] const std::vector<OffsetBin>& bins() const { return bins_; }
  [[nodiscard]] Index band_of(Index query) const { return query / width_; }
  [[nodiscard]] Index first(Index band) const { return band * width_; }
  [[nodiscard]] Index last(Index band) const { return std::min(length_, first(band) + width_) - 1; }
  /// Column of a query-key pair in (bands * bins).
  [[nodiscard]] Index column(Index query, Index key) const {
    return band_of(query) * std::ssize(bins_) + bin_of_[static_cast<std::size_t>(key - query + length_ - 1)];
  }

 private:
  Index length_, width_ = 1;
  std::vector<OffsetBin> bins_;
  std::vector<Index> bin_of_;  // [t + T - 1]
};

/// Attention weights summed over documents of any length.
struct BandSums {
  Matrix weight;               ///< (rows, bands * bins)
  Vector pairs;                ///< (bands * bins)  query-key pairs
  Matrix special;              ///< (rows, bands)   weight beyond the reach on special tokens and the first token
  Vector uniform;              ///< (bands)         sum over queries of the share of their keys beyond the reach
  ByDocument<Matrix> beyond;   ///< (rows, bands)   weight beyond the reach
  ByDocument<Vector> queries;  ///< (bands)         number of queries
};

class BandLook : public RowLook {
 public:
  BandLook(const Site& site, const Document& document, const BandsAndBins& bands, Index reach)
      : RowLook(site), bands_(bands), reach_(reach), windows_(site.grid.layers.size(), 0) {
    const Index rows = site.grid.rows(), columns = bands.bands() * std::ssize(bands.bins());
    sum_.weight = Matrix::Zero(rows, columns);
    sum_.pairs = Vector::Zero(columns);
    sum_.special = beyond_ = Matrix::Zero(rows, bands.bands());
    sum_.uniform = queries_ = Vector::Zero(bands.bands());
    for (Index j = 0; j < document.keys(site.kind); ++j)
      if (!counts(Pairs::without_sink, document.key_tokens(site.kind), j)) special_.push_back(j);
  }

  [[nodiscard]] BandSums taken() {
    // Pairs and queries are counted for the layers with the widest window.
    const Index window = std::ranges::count(windows_, 0) > 0 ? 0 : std::ranges::max(windows_);
    for (Index i = 0; i < length_; ++i) {
      const KeySpan open = allowed_keys(i, length_, site().kind == AttentionKind::causal, window);
      Index far = 0;
      for (Index j = open.first; j < open.end(); ++j) {
        sum_.pairs[bands_.column(i, j)] += 1;
        far += std::abs(j - i) > reach_ ? 1 : 0;
      }
      queries_[bands_.band_of(i)] += 1;
      if (open.count > 0) sum_.uniform[bands_.band_of(i)] += static_cast<double>(far) / static_cast<double>(open.count);
    }
    sum_.beyond.push_back(std::move(beyond_));
    sum_.queries.push_back(std::move(queries_));
    return std::move(sum_);
  }

 private:
  void begin(const Tile& tile, Index first_row) override {
    length_ = tile.queries;
    windows_[static_cast<std::size_t>(first_row / site().grid.heads)] = tile.window;
  }
  void row(const HeadRow& one) override {
    const Index band = bands_.band_of(one.query);
    for (Index k = 0; k < one.open.count; ++k) {
      const Index key = one.open.first + k;
      sum_.weight(one.row, bands_.column(one.query, key)) += one.weights[k];
      if (std::abs(key - one.query) > reach_) beyond_(one.row, band) += one.weights[k];
    }
    for (const Index key : special_)
      if (std::abs(key - one.query) > reach_) sum_.special(one.row, band) += one.on(key);
  }

  const BandsAndBins& bands_;
  Index reach_, length_ = 0;
  std::vector<Index> windows_;  // [layer of the grid]  0: no limit
  std::vector<Index> special_;  // positions of special tokens and of the first token
  Matrix beyond_;
  Vector queries_;
  BandSums sum_;
};

/// Shares of attention beyond the reach, (rows, bands), or (rows, 1) over all bands.
struct Shares {
  Matrix share, lower, upper;  ///< share and interval over documents
  Matrix special;              ///< share on special tokens or the first token
};

/// Intervals are those of bootstrap_interval(). Source: this project.
class OffsetByQueryAnalysis : public AnalysisOf<BandSums> {
 public:
  explicit OffsetByQueryAnalysis(const AnalysisInput& input)
      : AnalysisOf(input), bands_(input.longest, input.options.reach, input.site.kind == AttentionKind::causal) {}

  [[nodiscard]] std::unique_ptr<Look> look(const Document& document, Index /*i*/) const override {
    return look_of<BandLook>(site(), document, bands_, options().reach);
  }

 protected:
  [[nodiscard]] std::vector<Field> finish_sum(BandSums& sum, Finished& /*finished*/) override;

 private:
  /// Appends a column: the shares of some bands over the documents that have queries there; NaN if there are
  /// none, as in an encoder-decoder with a longer other sequence, or if no query has a key beyond the reach.
  void add_share(const BandSums& sum, Index first, Index bands, const ResampleOptions& how, Shares& shares) const {
    std::vector<Vector> beyond;
    std::vector<double> queries;
    for (std::size_t d = 0; d < sum.beyond.size(); ++d) {
      const double here = sum.queries[d].segment(first, bands).sum();
      if (here == 0) continue;
      beyond.emplace_back(sum.beyond[d].middleCols(first, bands).rowwise().sum());
      queries.push_back(here);
    }
    const auto share = [&](const std::vector<double>& times) -> Vector {
      Vector of = Vector::Zero(beyond.front().size());
      double all = 0;
      for (std::size_t d = 0; d < times.size(); ++d) {
        of += times[d] * beyond[d];
        all += times[d] * queries[d];
      }
      return of / all;
    };
    const Vector none = Vector::Constant(sum.weight.rows(), not_defined);
    Vector whole = none, special = none;
    BootstrapInterval ends{none, none};
    if (!beyond.empty() && sum.uniform.segment(first, bands).sum() != 0) {
      whole = share(std::vector<double>(beyond.size(), 1.0));
      special =
          sum.special.middleCols(first, bands).rowwise().sum() / std::accumulate(queries.begin(), queries.end(), 0.0);
      const auto stream = static_cast<std::uint64_t>(bands == 1 ? first : bands_.bands());
      ends = bootstrap_interval(whole, std::ssize(beyond), how, Random(how.seed).stream(stream), share);
    }
    for (auto [matrix, column] : {std::pair{&shares.share, &whole},
                                  {&shares.lower, &ends.lower},
                                  {&shares.upper, &ends.upper},
                                  {&shares.special, &special}}) {
      matrix->conservativeResize(column->size(), matrix->cols() + 1);
      matrix->rightCols(1) = *column;
    }
  }

  BandsAndBins bands_;
};

std::vector<Field> OffsetByQueryAnalysis::finish_sum(BandSums& sum, Finished& /*finished*/) {
  if (!are_finite(sum.weight))
    throw NumericError(
        "offset_by_query: an attention weight is not finite; look for NaN or huge values in the model's weights");
  const Index bands = bands_.bands(), bins = std::ssize(bands_.bins());
  Vector queries = Vector::Zero(bands);
  std::vector<Index> documents(static_cast<std::size_t>(bands), 0);  // that have queries in a band
  for (const Vector& one : sum.queries) {
    queries += one;
    for (Index band = 0; band < bands; ++band) documents[static_cast<std::size_t>(band)] += one[band] > 0 ? 1 : 0;
  }
  ResampleOptions how;
  how.resamples = options().resamples;
  how.seed = options().seed;
  how.threads = input().threads;
  Shares by_band, all;
  for (Index band = 0; band < bands; ++band) add_share(sum, band, 1, how, by_band);
  add_share(sum, 0, bands, how, all);
  // profile_b(B) = sum over i in band b and t in bin B of A[i, i+t] / queries of b: over bins it sums to 1.
  Matrix profile = sum.weight;
  for (Index column = 0; column < profile.cols(); ++column) {
    profile.col(column) /= queries[column / bins];
    if (sum.pairs[column] == 0) profile.col(column).setConstant(not_defined);
    sum.pairs[column] /= queries[column / bins];
  }

  std::vector<std::int64_t> band_first, band_last;
  for (Index band = 0; band < bands; ++band) {
    band_first.push_back(bands_.first(band));
    band_last.push_back(bands_.last(band));
  }
  std::vector<double> middles;
  for (const OffsetBin& bin : bands_.bins()) middles.push_back(0.5 * static_cast<double>(bin.first + bin.last));
  const Axis band{"query_band", "token", "first query position of a band", band_first},
      bin{"offset_bin", "token", "offset, key minus query; beyond the reach the middle of several", middles};
  const std::vector<Axis> heads{layer_axis(site().grid.layers), head_axis(site().grid.heads)},
      bands_of{heads[0], heads[1], band};
  const char* const no_far_key = "no query of the band has a key beyond the reach";
  const char* const no_key_at_all = "no query has a key beyond the reach";
  const char* const few = "fewer than 5 documents have queries there; or no query has a key beyond the reach";
  const char* const on_special = "share of attention that lands beyond the reach on special tokens or the first token";
  Fields fields("offset_by_query");
  fields
      .add("profile", {heads[0], heads[1], band, bin}, "1",
           "attention weight of a query summed over a bin of offsets, mean over the band", profile,
           "no query of the band has a key there")
      .note("normalisation", "over the bins of a band it sums to 1");
  fields.add("share_beyond", heads, "1", "share of all attention that lands beyond the reach", all.share,
             no_key_at_all);
  fields.interval("share", heads, all.lower, all.upper, few);
  fields.add("special_share", heads, "1", on_special, all.special, no_key_at_all);
  fields.add("band_share", bands_of, "1", "share of a band's attention that lands beyond the reach", by_band.share,
             no_far_key);
  fields.interval("band", bands_of, by_band.lower, by_band.upper, few);
  fields.add("band_special", bands_of, "1", on_special, by_band.special, no_far_key);
  fields.add("band_last", {band}, "token", "last query position of a band", band_last);
  fields.add("queries", {band}, "1", "queries of a band, all documents together", queries);
  fields.add("documents_with_queries", {band}, "1", "documents that have queries in a band", documents);
  fields.add("bin_first", {bin}, "token", "first offset of a bin",
             bands_.bins() | std::views::transform(&OffsetBin::first));
  fields.add("bin_last", {bin}, "token", "last offset of a bin",
             bands_.bins() | std::views::transform(&OffsetBin::last));
  fields.add("keys", {band, bin}, "1", "keys that a query has in a bin, mean over the band's queries", sum.pairs);
  fields.add("uniform_share", {band}, "1", "share beyond the reach of a head that gives all keys equal weights",
             sum.uniform.cwiseQuotient(queries));
  fields.note_all("reach", options().reach)
      .note_all("coverage", how.coverage)
      .note_all("resamples", how.resamples)
      .note_all("seed", static_cast<std::int64_t>(how.seed))
      .note_all("documents", "of any length, from their first token on; every query counts alike");
  return fields.taken();
}

}  // namespace

extern const AnalysisKind offset_by_query_analysis{
    .name = "offset_by_query",
    .asks = "Where do heads look, near and far, from early and late queries?",
    .one_sequence = true,
    .make = make_of<OffsetByQueryAnalysis>};

}  // namespace headwave
