#pragma once

#include <tuple>
#include <vector>

#include "../../core/fields/field.h"
#include "../attention/query_bands.h"
#include "../pass/analysis_kind.h"
#include "../pass/document_sum.h"
#include "../statistics/quantile.h"

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
  Index reach = 64;  ///< |t| up to which a key counts as near, in tokens
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
};

/// Where attention goes in bands of query positions: the profile over all offsets, and how much of it lies beyond the
/// reach.
///
///     profile_b(B) = sum over t in B of D_b(t) / queries of b                                  (2)
///
/// D as in BandTraces. A row of (2) sums to 1, or to what a learned sink leaves. Documents count from their first token:
/// one that ends within a band has fewer queries there, one that ends before has none, and each query counts alike.
///
/// Source: this project; Student's percentile intervals as in bootstrap.h.
/// @throws ShapeError if there is no document, or shapes differ; NumericError if a weight is not finite
OffsetByQuery offset_by_query(const HeadGrid& grid, const QueryBands& bands, const OffsetByQuerySums& sums,
                              const OffsetByQueryOptions& options = {});

/// Fields offset_by_query/...
std::vector<Field> describe(const OffsetByQuery& found);

/// In a job: offset_by_query/...
const AnalysisKind& offset_by_query_analysis();

}  // namespace headwave
