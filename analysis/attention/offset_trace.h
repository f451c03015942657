#pragma once

#include <array>
#include <optional>
#include <tuple>
#include <vector>

#include "../../core/attention/probe.h"
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

/// Sums attention weights along diagonals while they pass by.
///
///     tr_t(A) = sum_i A[i, i+t]                                                             (1)
///
/// is a sum over query positions, not a mean; divided by its count it is the mean weight at offset t.
///
/// Beside it stands the null of one document, of a head that does not care where a key is relative to the
/// query: each key keeps the weights it gets from others, but which query gives which is drawn anew. What it
/// is of several documents is another matter (document_correlation.h), for which weights are kept at pairs of
/// places that all documents share. With m_j, v_j and w_j the mean, variance and third central moment of the
/// weights A[i, j], i != j, that key j gets,
///
///     E[tr_t] = sum m_j,  Var[tr_t] = sum v_j,  third moment = sum w_j  over the diagonal's keys j   (2)
///
/// taking keys as independent of one another. Attention to oneself (t = 0) is left where it is, as shuffling
/// positions does; in cross-attention nobody is oneself, and t = 0 is an offset like any other. Under a
/// causal mask it is the queries that keep their weights, dealt anew among the keys before them, as far back
/// as the mask lets them look: the mean is the uniform baseline 1/(i+1), variance and third moment those of
/// query i's weights about it. Where fewer than three positions count there is no null.
///
/// Source: Yamamoto and Matsuzaki 2023, equation 7; shuffling as a null after Hoeffding 1951.
class OffsetTraceProbe : public Probe {
 public:
  /// @param document  the one that will pass by
  /// @param reach     largest |t| for which the null is kept, in tokens
  /// @param kind      the attention that is looked at; others pass unseen
  /// @param pairs     where weights are kept, to be compared with other documents; null: nowhere. Must
  ///         outlive the probe
  OffsetTraceProbe(HeadGrid grid, const Document& document, Index reach, AttentionKind kind = AttentionKind::self,
                   const PlacePairs* pairs = nullptr);

  using Probe::see;
  /// @throws ShapeError if a tile of that kind has other heads or sequences than were announced
  void see(const Tile& tile) override;

  /// What was gathered; nothing is left of it here.
  [[nodiscard]] DocumentTraces taken();

 private:
  /// Positions of one sequence, and which of them count in a kind of Pairs.
  struct Side {
    Index length = 0;
    std::array<std::vector<bool>, pairs_kinds> kept;
    std::array<std::vector<Index>, pairs_kinds> dropped;  ///< the positions that do not count
  };
  /// Sums over pairs: everything, or what a kind of Pairs leaves out. Powers of weights off the diagonal are
  /// gathered by key, or under a causal mask, as differences from the uniform baseline, by query.
  struct Sums {
    Matrix trace;                 ///< (rows, 2 T - 1)
    std::array<Matrix, 3> power;  ///< (rows, T)  first, second and third powers
  };

  static Side side_of(const TokenSequence& tokens, Index length);
  [[nodiscard]] bool causal() const { return kind_ == AttentionKind::causal; }
  [[nodiscard]] static Index first_key(Index query, Index window);
  [[nodiscard]] double uniform(Index query, Index window) const;
  [[nodiscard]] Index window_of(Index row) const { return windows_[static_cast<std::size_t>(row / grid_.heads)]; }
  [[nodiscard]] Index widest() const;
  [[nodiscard]] Vector pair_counts(std::size_t pairs) const;
  void add_rows(Sums& sums, Index row, Index query, const MatrixView32& weights);
  void add_causal_powers(Sums& sums, Index row, Index query, const MatrixView32& weights) const;
  void add_pair(Sums& sums, Index row, Index query, Index key, double weight);
  [[nodiscard]] Vector sum_along(Eigen::Ref<const Vector> values, std::size_t pairs) const;
  void set_null(std::size_t pairs, const Sums& sums, DocumentTraces& result) const;

  HeadGrid grid_;
  Index reach_;
  AttentionKind kind_;
  Side queries_, keys_;
  Index length_;                        ///< T, of the longer side
  std::vector<Index> windows_;          ///< of each layer of the grid, as the mask has it; 0: no limit
  std::array<Sums, pairs_kinds> sums_;  ///< [all] everything; the others: what they leave out
  std::optional<PlacePairWeights> compared_;
};

}  // namespace headwave
