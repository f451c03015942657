#pragma once

#include <array>
#include <tuple>
#include <vector>

#include "../../core/fields/field.h"
#include "../../core/fields/head_grid.h"
#include "../../core/numbers/matrix.h"
#include "document_correlation.h"

namespace headwave {

/// One matrix, or one vector, for each kind of Pairs.
using PairsMatrices = std::array<Matrix, pairs_kinds>;
using PairsVectors = std::array<Vector, pairs_kinds>;

/// Offsets that T tokens have: t = -(T-1) .. T-1.
constexpr Index diagonals(Index length) {
  return 2 * length - 1;
}

/// Offset traces of one document of T tokens, t = -(T-1) .. T-1 in columns; where queries and keys are different
/// sequences, T is the longer. The null is that of trace / count.
struct DocumentTraces {
  Index length = 0;
  Index reach = 0;
  PairsMatrices trace;          ///< (rows, 2 T - 1)      sum of A[i, i+t] over query positions i
  PairsVectors count;           ///< (2 T - 1)            number of pairs (i, i+t)
  PairsMatrices null_weight;    ///< (rows, 2 reach + 1)  expectation if queries are shuffled; NaN: no null
  PairsMatrices null_variance;  ///< (rows, 2 reach + 1)  variance
  PairsMatrices null_third;     ///< (rows, 2 reach + 1)  third central moment
  Matrix32 deviations;          ///< (rows, pairs of places)  to compare with other documents; empty: not compared
};

/// Offset traces of a job: means over documents, and every document's own near traces.
struct OffsetTraces {
  HeadGrid grid;
  Index documents = 0;
  Index length = 0;              ///< T of the longest document
  Index reach = 0;               ///< largest |t| of the near traces, in tokens
  PairsMatrices trace;           ///< (rows, 2 T - 1)      mean over documents of tr_t
  PairsMatrices weight;          ///< (rows, 2 T - 1)      mean over documents of tr_t / count_t; NaN: no pairs
  PairsVectors count;            ///< (2 T - 1)            mean over documents of the number of pairs
  PairsMatrices null_weight;     ///< (rows, 2 reach + 1)  expectation of weight if queries are shuffled; NaN: no null
  PairsMatrices null_deviation;  ///< (rows, 2 reach + 1)  its standard deviation
  PairsMatrices null_skewness;   ///< (rows, 2 reach + 1)  its skewness
  Vector correlation;            ///< (rows)  of documents, which the two rest on; NaN: not compared, counts as 1
  Matrix by_document;            ///< (documents * rows, 2 reach + 1) tr_t of all pairs; NaN: no pairs
  std::vector<Index> lengths;    ///< (documents) T of each document
};

/// Adds documents up in the order in which they are given.
class OffsetTraceSum {
 public:
  /// @param length  T of the longest document to come
  /// @param pairs   pairs of places at which documents are compared
  OffsetTraceSum(HeadGrid grid, Index length, Index reach, Index pairs = 0);
  void add(const DocumentTraces& document);
  /// Adds what the next documents came to.
  void join(OffsetTraceSum&& next);
  /// @throws NumericError if a trace is not finite: the model computed NaN or infinity
  [[nodiscard]] OffsetTraces traces() const;
  template <class Self>
  static auto members(Self& self) {
    auto& sum = self.sum_;
    return std::tie(sum.documents, sum.trace, sum.weight, sum.count, sum.null_weight, sum.lengths, self.null_,
                    self.correlation_, self.by_document_, self.documents_with_pairs_, self.documents_with_null_);
  }

 private:
  OffsetTraces sum_;                           ///< null_weight: sum of means; the null's other moments are in null_
  std::array<NullMoments, pairs_kinds> null_;  ///< (rows, 2 reach + 1)
  DocumentCorrelation correlation_;
  std::vector<Matrix> by_document_;    ///< (rows, 2 reach + 1) each
  PairsVectors documents_with_pairs_;  ///< (2 T - 1)
  PairsVectors documents_with_null_;   ///< (2 reach + 1)
};

/// Every document's near traces, made comparable between documents.
struct ComparableTraces {
  Matrix values;              ///< (documents * rows, 2 window + 1)  0 where a document has no pairs
  std::string normalisation;  ///< what was done, for the result
};

/// Traces at |t| <= window of every document and head, to be clustered.
///
/// Where all documents have one length these are the published sums tr_t. A sum grows with the document, so where
/// lengths differ each document's are divided by its number of queries, tr_t / T: the share of its attention that goes
/// to offset t. At equal lengths the two differ by a constant, which no clustering sees.
///
/// Source: Yamamoto and Matsuzaki 2023, section 3.1, for the sums; documents of unequal length are not treated there.
/// @param window  at most traces.reach, in tokens
ComparableTraces comparable_traces(const OffsetTraces& traces, Index window);

/// Fields offset_trace/...
std::vector<Field> describe(const OffsetTraces& traces);

}  // namespace headwave
