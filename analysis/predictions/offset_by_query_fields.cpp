#include <algorithm>
#include <functional>
#include <memory>
#include <ranges>
#include <utility>

#include "../../core/fields/fields.h"
#include "head_account.h"
#include "offset_by_query.h"

namespace headwave {

namespace {

constexpr Index most_bands = 8;  // of queries: enough to see where an alias begins, and wide enough to count

class OffsetByQueryAnalysis : public DocumentAnalysis<BandTraces, OffsetByQuerySums> {
 public:
  explicit OffsetByQueryAnalysis(const AnalysisInput& input)
      : DocumentAnalysis(input), bands_(input.longest, most_bands, input.site.kind == AttentionKind::causal) {}

  [[nodiscard]] std::unique_ptr<Look> look(const Document& document, Index /*i*/) const override {
    return look_of(std::make_unique<BandTraceProbe>(site().grid, bands_, options().reach, site().kind,
                                                    special_positions(document, site().kind)),
                   &BandTraceProbe::taken);
  }
  [[nodiscard]] std::vector<Field> finish(Finished& finished) override {
    OffsetByQueryOptions how;
    how.peaks.reach = options().reach;
    how.peaks.level = options().level;
    how.resamples = options().resamples;
    how.seed = options().seed;
    how.threads = input().threads;
    return describe(offset_by_query(site().grid, bands_, sum_, finished.find<AccountHalves>(), how));
  }

 private:
  void add(OffsetByQuerySums& sum, BandTraces&& found) const override { sum.add(found); }
  void join(OffsetByQuerySums& sum, OffsetByQuerySums&& next) const override { sum.join(std::move(next)); }

  QueryBands bands_;
};

/// One number of every peak, the places of those that there are not taken by `otherwise`: (rows, bands, most).
template <class Number, class Lists, class Of>
std::vector<Number> by_place(const Lists& lists, Index most, Number otherwise, const Of& of) {
  std::vector<Number> numbers;
  for (const auto& row : lists)
    for (const auto& band : row)
      for (std::size_t k = 0; k < static_cast<std::size_t>(most); ++k)
        numbers.push_back(k < band.size() ? of(band[k]) : otherwise);
  return numbers;
}

/// Bands, outermost in what the analysis keeps, behind the heads.
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

/// The axes and what stands along them.
struct Axes {
  Axis band, bin, peak;

  explicit Axes(const OffsetByQuery& found)
      : band{"query_band", "token", "first query position of a band", std::vector<std::int64_t>()},
        bin{"offset_bin", "token", "offset, key minus query; beyond the reach the middle of several",
            std::vector<double>()},
        peak(counting_axis("far_peak", "1", "peaks beyond the reach, the largest first", 0,
                           found.options.peaks.most - 1)) {
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
      .note("reach", found.options.peaks.reach);
}

void add_shares(Fields& fields, const OffsetByQuery& found, const Axes& axes, const std::vector<Axis>& heads) {
  std::vector<Axis> bands = heads;
  bands.push_back(axes.band);
  fields.add("share_beyond", heads, "1", "share of all attention that lands beyond the reach", found.beyond_all.share)
      .undefined("no query has a key beyond the reach");
  fields.interval("share", heads, found.beyond_all.lower, found.beyond_all.upper, few_documents);
  fields
      .add("special_share", heads, "1", "... that lands there on special tokens or the document's first",
           found.special_all)
      .undefined("no query has a key beyond the reach");
  fields
      .add("band_share", bands, "1", "share of a band's attention that lands beyond the reach",
           by_head(found.beyond, &ShareInterval::share))
      .undefined(no_far_key);
  fields.interval("band", bands, by_head(found.beyond, &ShareInterval::lower),
                  by_head(found.beyond, &ShareInterval::upper), few_documents);
  fields
      .add("band_special", bands, "1", "... that lands there on special tokens or the document's first", found.special)
      .undefined(no_far_key);
}

void add_peaks(Fields& fields, const OffsetByQuery& found, const Axes& axes, const std::vector<Axis>& heads) {
  std::vector<Axis> places = heads;
  places.push_back(axes.band);
  places.push_back(axes.peak);
  const char* const no_peak = "no such peak";
  const auto number = [&](const auto& of) {
    return by_place(found.peaks, found.options.peaks.most, not_defined,
                    [&](const BandPeak& peak) { return static_cast<double>(std::invoke(of, peak)); });
  };
  fields
      .add("peak_offset", places, "token", "single offset beyond the reach at which attention piles up",
           number(&BandPeak::offset))
      .undefined(no_peak)
      .note("least_excess", found.options.peaks.least_excess)
      .note("apart", found.options.peaks.apart)
      .note("level", found.options.peaks.level);
  fields
      .add("peak_weight", places, "1", "mean attention weight there, of the queries that have a key there",
           number(&BandPeak::weight))
      .undefined(no_peak);
  fields
      .add("peak_chance", places, "1", "... if it did not matter which of the band's queries gives a key its weight",
           number(&BandPeak::chance))
      .undefined(no_peak);
  fields
      .add("peak_excess", places, "1", "share of the band's attention that lands there, less what chance puts there",
           number(&BandPeak::excess))
      .undefined(no_peak);
  fields.flags(
      "peak_source", places, "whether mean queries and keys of their places alone bring the peak about",
      by_place(found.source, found.options.peaks.most, PeakSource::none, [](PeakSource source) { return source; }),
      {"no peak", "position", "other", "unknown"});
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
           by_head(found.profile, found.grid.rows()))
      .undefined(no_key)
      .note("normalisation", "over the bins of a band it sums to 1");
  add_shares(fields, found, axes, heads);
  add_peaks(fields, found, axes, heads);
  add_bands(fields, found, axes);
  fields.note_all("reach", found.options.peaks.reach)
      .note_all("coverage", found.options.coverage)
      .note_all("resamples", found.options.resamples)
      .note_all("seed", static_cast<std::int64_t>(found.options.seed))
      .note_all("documents", "of any length, from their first token on; every query counts alike");
  return fields.taken();
}

const AnalysisKind& offset_by_query_analysis() {
  static const AnalysisKind kind{.name = "offset_by_query",
                                 .finds = "where attention goes, near and far, by where its query stands",
                                 .step = Step::prediction,
                                 .needs = {Need::attention},
                                 .reads = {head_account_analysis},
                                 .one_sequence = true,
                                 .make = make_of<OffsetByQueryAnalysis>};
  return kind;
}

}  // namespace headwave
