#pragma once

#include <cstdint>
#include <tuple>
#include <vector>

#include "../../core/fields/field.h"
#include "../attention/query_bands.h"
#include "../pass/analysis_kind.h"
#include "../statistics/quantile.h"
#include "head_account.h"

namespace headwave {

/// Attention by query band, summed over documents, and what each document sends beyond the reach.
struct OffsetByQuerySums {
  BandTraces total;
  ByDocument<Matrix> beyond;   ///< (rows, bands)
  ByDocument<Vector> queries;  ///< (bands)
  template <class Self>
  static auto members(Self& self) {
    return std::tie(self.total, self.beyond, self.queries);
  }
  OffsetByQuerySums() = default;
  /// Of one document.
  explicit OffsetByQuerySums(BandTraces document)
      : total(std::move(document)), beyond{total.beyond}, queries{total.queries} {}
};

struct OffsetByQueryOptions : ResampleOptions {
  BandPeakOptions peaks;
};

/// The cause of a peak.
enum class PeakSource : std::uint8_t {
  none,      ///< no peak
  position,  ///< the mean queries and keys of places alone produce it, such as an alias of the wave
  other,     ///< the mean queries and keys of places alone do not produce it
  unknown,   ///< the position term was not measured there
};

/// A share of attention over documents, with its interval.
struct ShareInterval {
  Vector share, lower, upper;  ///< (rows)  NaN: undefined
};

/// Where attention goes, by the position of the query.
struct OffsetByQuery {
  HeadGrid grid;
  QueryBands bands;
  std::vector<OffsetBin> bins;
  OffsetByQueryOptions options;
  std::vector<Index> documents;  ///< (bands)  with queries there
  Vector queries;                ///< (bands)  over all documents
  Matrix keys;                   ///< (bands, bins)  of a query, on average
  std::vector<Matrix> profile;   ///< [band] (rows, bins)  weight of a query, summed over the bin; NaN: no key there
  std::vector<ShareInterval> beyond;  ///< [band]  beyond the reach; NaN: no key there
  ShareInterval beyond_all;           ///< ... of all queries
  Matrix special;                     ///< (rows, bands)  ... on special tokens and the document's first
  Vector special_all;                 ///< (rows)
  Vector uniform;                     ///< (bands)  what equal weights would send beyond the reach
  std::vector<std::vector<std::vector<BandPeak>>> peaks;     ///< [row][band]  beyond the reach, the largest first
  std::vector<std::vector<std::vector<PeakSource>>> source;  ///< [row][band]  of each
};

/// Where attention goes in bands of query positions: the profile over all offsets, how much of it lies beyond
/// the reach, and the single offsets there at which it piles up (band_peaks.h).
///
///     profile_b(B) = sum over t in B of D_b(t) / queries of b                                  (4)
///
/// D as in BandTraces. A row of (4) sums to 1, or to what a learned sink leaves. Documents count from their first token: one that ends within a
/// band has fewer queries there, one that ends before has none, and each query counts alike.
///
/// The cause of a peak: with mu^Q of one half of the documents and mu^K of the other, and the other way
/// round, attention is computed from scale mu^Q_i . mu^K_j + position term alone, and gives D, E, V of its
/// own. The two halves have nothing but places in common, so a passage that is repeated within documents does
/// not contribute. A peak at t comes from positions where at t - 1, t or t + 1 the excess of the position
/// term is at least half the measured one, and above the normal quantile of its own V at 1 - level / 3.
///
/// Source: this project; Student's percentile intervals as in bootstrap.h.
/// @param halves  the documents of one length by turns; null, or of one document: sources are unknown. Where they end
///                before a band, too
/// @throws ShapeError if there is no document, or shapes differ; NumericError if a weight is not finite
OffsetByQuery offset_by_query(const HeadGrid& grid, const QueryBands& bands, const OffsetByQuerySums& sums,
                              const AccountHalves* halves, const OffsetByQueryOptions& options = {});

/// Fields offset_by_query/...
std::vector<Field> describe(const OffsetByQuery& found);

/// In a job: offset_by_query/...
const AnalysisKind& offset_by_query_analysis();

}  // namespace headwave
