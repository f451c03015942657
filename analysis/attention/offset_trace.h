#pragma once

#include <array>
#include <optional>
#include <vector>

#include "../../core/attention/probe.h"
#include "../../core/fields/field.h"
#include "../../core/fields/head_name.h"
#include "../../core/numbers/matrix.h"
#include "../pass/document_sum.h"
#include "document_correlation.h"

namespace headwave {

/// One matrix, or one vector, for each kind of Pairs.
using PairsMatrices = std::array<Matrix, pairs_kinds>;
using PairsVectors = std::array<Vector, pairs_kinds>;

/// Number of offsets between T tokens, t = -(T-1) .. T-1.
constexpr Index diagonals(Index length) {
  return 2 * length - 1;
}

/// A range of offsets: first <= t <= last.
struct OffsetBin {
  Index first = 0, last = 0;
};

/// Bins of the offsets -(T-1) .. T-1, ascending; under a causal mask t <= 0 only. Each offset within the
/// reach has its own bin. Farther bins begin at |t| = (reach + 1) 2^(k/4), rounded up, and end at T - 1.
std::vector<OffsetBin> offset_bins(Index length, Index reach, bool causal);

/// Offset traces of a job: means over documents, and the traces of single documents within reach.
struct OffsetTraces {
  HeadGrid grid;
  Index documents = 0;
  Index length = 0;              ///< T of the longest document
  Index reach = 0;               ///< largest |t| of by_document and the null, in tokens
  PairsMatrices trace;           ///< (rows, 2 T - 1)      mean over documents of tr_t
  PairsMatrices weight;          ///< (rows, 2 T - 1)      mean over documents of tr_t / count_t; NaN: no pairs
  PairsVectors count;            ///< (2 T - 1)            mean over documents of the number of pairs
  PairsMatrices null_weight;     ///< (rows, 2 reach + 1)  expectation of weight if queries are shuffled; NaN: no null
  PairsMatrices null_deviation;  ///< (rows, 2 reach + 1)  standard deviation of weight if queries are shuffled
  PairsMatrices null_skewness;   ///< (rows, 2 reach + 1)  skewness of weight if queries are shuffled
  Vector
      correlation;  ///< (rows)  correlation between documents, used for the two above; NaN (not compared) counts as 1
  Matrix by_document;          ///< (documents * rows, 2 reach + 1) tr_t of all pairs; NaN: no pairs
  std::vector<Index> lengths;  ///< (documents) T of each document
};

/// Sums of offset traces over documents. Columns are the offsets t = -(T-1) .. T-1, where T is the length of
/// the longest sequence of queries or keys. OffsetTraceProbe describes the null of `weight`.
struct OffsetTraceSum {
  Index documents = 0;
  PairsMatrices trace;                        ///< (rows, 2 T - 1)      sum of A[i, i+t] over query positions i
  PairsMatrices weight;                       ///< (rows, 2 T - 1)      trace / count of each document
  PairsVectors count;                         ///< (2 T - 1)            number of pairs (i, i+t)
  PairsVectors documents_with_pairs;          ///< (2 T - 1)
  PairsMatrices null_weight;                  ///< (rows, 2 reach + 1)  expectation of weight if queries are shuffled
  std::array<NullMoments, pairs_kinds> null;  ///< (rows, 2 reach + 1)  moments of weight in that case
  PairsVectors documents_with_null;           ///< (2 reach + 1)
  DocumentCorrelation correlation;
  ByDocument<Matrix> by_document;  ///< (rows, 2 reach + 1)  trace of all pairs; NaN: no pairs
  ByDocument<Index> lengths;       ///< tokens
};

/// Turns sums over documents into means.
/// @param sum  sum over at least one document
/// @throws NumericError if a trace is not finite, because the model computed NaN or infinity
OffsetTraces offset_traces(OffsetTraceSum sum, const HeadGrid& grid);

/// Traces within a window, made comparable between documents.
struct ComparableTraces {
  Matrix values;              ///< (documents * rows, 2 window + 1)  0 where a document has no pairs
  std::string normalisation;  ///< how the traces were normalised; a note in the result
};

/// Traces at |t| <= window of every document and head, for clustering.
///
/// If all documents have the same length, these are the sums tr_t, as published. If lengths differ, each
/// document's traces are divided by its T (in cross-attention, the longer of its two lengths), since sums
/// grow with the length. tr_t / T is the share of attention at offset t.
///
/// Source: Yamamoto and Matsuzaki 2023, section 3.1, for the sums of documents of equal length
/// @param window  at most traces.reach, in tokens
ComparableTraces comparable_traces(const OffsetTraces& traces, Index window);

/// Fields offset_trace/...
std::vector<Field> describe(const OffsetTraces& traces);

/// Sums attention weights along diagonals.
///
///     tr_t(A) = sum_i A[i, i+t]                                                             (1)
///
/// (1) is a sum over query positions. Divided by the number of pairs, it is the mean weight at offset t.
///
/// The null of one document is a head that ignores where a key is relative to the query. Each key keeps the
/// weights that it gets from other tokens, but random queries give them. Let m_j, v_j and w_j be the mean,
/// variance and third central moment of the weights A[i, j], i != j, that key j gets. Then
///
///     E[tr_t] = sum m_j,  Var[tr_t] = sum v_j,  third moment = sum w_j  over the diagonal's keys j   (2)
///
/// if keys are treated as independent. Weights at t = 0 stay in place, as they do if positions are shuffled.
/// In cross-attention no token meets itself, and t = 0 is an offset like any other. The null of several
/// documents also needs their correlation at a sample of pairs (document_correlation.h).
///
/// Under a causal mask each query keeps its weights instead, but gives them to random earlier keys that the
/// mask allows. The mean is then the uniform baseline, 1/(i+1) without a window. Variance and third moment
/// are those of query i's weights about this baseline. With a learned sink, the baseline shares out what the
/// sink leaves. There is no null for a window without a causal mask, or for fewer than three positions.
///
/// Source: Yamamoto and Matsuzaki 2023, equation 7; shuffling as a null after Hoeffding 1951.
class OffsetTraceProbe : public Probe {
 public:
  /// @param document  the document that will be seen
  /// @param reach     largest |t| for which the null is kept, in tokens
  /// @param kind      the kind of attention to look at; other kinds are ignored
  /// @param longest   tokens of the longest document that will be added to this one; 0: this document is the longest
  /// @param pairs     pairs at which weights are kept to compare documents, which must outlive the probe; or null
  OffsetTraceProbe(HeadGrid grid, const Document& document, Index reach, AttentionKind kind = AttentionKind::self,
                   Index longest = 0, const PlacePairs* pairs = nullptr);

  using Probe::see;
  /// @throws ShapeError if heads or lengths of a tile differ from those of the grid and the document
  void see(const Tile& tile) override;

  [[nodiscard]] OffsetTraceSum taken();

 private:
  /// Positions of one sequence, and which of them count in each kind of Pairs.
  struct Side {
    Index length = 0;
    std::array<std::vector<bool>, pairs_kinds> kept;
    std::array<std::vector<Index>, pairs_kinds> dropped;  ///< positions that do not count
  };
  /// Sums over all pairs, or over the pairs that a kind of Pairs leaves out. `power` sums powers of the
  /// weights off the diagonal, for each key. Under a causal mask it sums powers of their differences from the
  /// uniform baseline, for each query.
  struct Sums {
    Matrix trace;                 ///< (rows, 2 T - 1)
    std::array<Matrix, 3> power;  ///< (rows, T)  first, second and third powers
  };

  static Side side_of(const TokenSequence& tokens, Index length);
  [[nodiscard]] bool causal() const { return kind_ == AttentionKind::causal; }
  [[nodiscard]] static Index first_key(Index query, Index window);
  [[nodiscard]] double uniform(Index row, Index query, Index window) const;
  [[nodiscard]] Index window_of(Index row) const { return windows_[static_cast<std::size_t>(row / grid_.heads)]; }
  [[nodiscard]] Index widest() const;
  [[nodiscard]] Vector pair_counts(std::size_t pairs) const;
  void add_rows(Sums& sums, Index row, Index query, const MatrixView32& weights);
  void add_causal_powers(Sums& sums, Index row, Index query, const MatrixView32& weights) const;
  void add_pair(Sums& sums, Index row, Index query, Index key, double weight);
  [[nodiscard]] Vector sum_along(Eigen::Ref<const Vector> values, std::size_t pairs) const;
  void set_traces(std::size_t pairs, const Matrix& trace, const Vector& count, OffsetTraceSum& result) const;
  void set_null(std::size_t pairs, const Sums& sums, const Vector& count, OffsetTraceSum& result) const;

  HeadGrid grid_;
  Index reach_;
  AttentionKind kind_;
  Side queries_, keys_;
  Index length_;                        ///< length of the longer side
  Index longest_;                       ///< T
  std::vector<Index> windows_;          ///< window of each layer of the grid; 0: no limit
  std::array<Sums, pairs_kinds> sums_;  ///< [all]: over all pairs; other kinds: over the pairs that they leave out
  Matrix given_;                        ///< (rows, T)  sum of a query's weights; empty: 1
  std::optional<PlacePairWeights> compared_;
};

}  // namespace headwave
