#pragma once

#include <array>
#include <vector>

#include "headwave/core/field.h"
#include "headwave/core/matrix.h"
#include "headwave/core/probe.h"

namespace headwave {

/// Which query-key pairs a statistic counts: all; those without special tokens; those without special tokens and
/// without the first token of the document, where attention without a better place to go piles up (the sink).
enum class Pairs { all, without_special, without_sink };
constexpr std::size_t pairs_kinds = 3;
Axis pairs_axis();

/// The layers and heads that are looked at. Rows of the matrices below are (layer, head), layers in this order.
struct HeadGrid {
  std::vector<Index> layers;  ///< layer numbers, ascending
  Index heads = 0;
  [[nodiscard]] Index rows() const { return static_cast<Index>(layers.size()) * heads; }
  /// @returns the row of head 0 of that layer
  /// @throws ShapeError if the layer is not among `layers`
  [[nodiscard]] Index first_row(Index layer) const;
};

/// Offset traces of one document of T tokens, t = -(T-1) .. T-1 in columns, one matrix for each kind of Pairs.
struct DocumentTraces {
  Index length = 0;
  Index reach = 0;
  std::array<Matrix, pairs_kinds> trace;  ///< (rows, 2 T - 1)      sum of A[i, i+t] over query positions i
  std::array<Vector, pairs_kinds> count;  ///< (2 T - 1)            number of pairs (i, i+t)
  std::array<Matrix, pairs_kinds>
      null_weight;  ///< (rows, 2 reach + 1)  expectation of trace/count if queries are shuffled
  std::array<Matrix, pairs_kinds> null_variance;  ///< (rows, 2 reach + 1)  its variance
};

/// Sums attention weights along diagonals while they pass by.
///
///     tr_t(A) = sum_i A[i, i+t]                                                                        (1)
///
/// is a sum over query positions, not a mean; divided by its count it is the mean weight at offset t. Beside it stands
/// the null of a head that does not care where a key is relative to the query: each key keeps the attention it gets
/// from others, but the queries it comes from are shuffled. Of a permutation statistic expectation and variance are
/// known exactly for whole columns,
///
///     E[tr_t] = sum_{j: pair (j-t, j) counts} c_j / (n-1),   Var[tr_t] = count_t/n * sum_{i != j} (A[i,j] -
///     c_j/(n-1))^2 / (n-2)   (2)
///
/// with c_j = sum_{i != j} A[i, j]; for part of a column the second is an approximation. Attention to oneself (t = 0)
/// is left where it is, as shuffling positions does. Under a causal mask the baseline is the uniform one instead,
/// 1/(i+1) for every allowed key, with the spread of the weights about it.
///
/// Source: Yamamoto and Matsuzaki 2023, equation 7; the null after Hoeffding 1951.
class OffsetTraceProbe : public Probe {
 public:
  /// @param length  T of the document that will pass by
  /// @param reach   largest |t| for which the null is kept, in tokens
  OffsetTraceProbe(HeadGrid grid, const Document& document, Index reach);

  using Probe::see;
  void see(const Tile& tile) override;

  /// What was gathered.
  [[nodiscard]] DocumentTraces traces() const;

 private:
  /// Sums over pairs: everything, or what a kind of Pairs leaves out.
  struct Sums {
    Matrix trace;    ///< (rows, 2 T - 1)
    Matrix column;   ///< (rows, T)  attention received from other positions
    Vector squares;  ///< (rows)     squared weights off the diagonal
    Vector spread;   ///< (rows)     squared deviation from the causal uniform baseline, off the diagonal
  };

  void add_row(Sums& sums, Index row, Index query, Eigen::Ref<const Vector> weights, double uniform);
  void add_pair(Sums& sums, Index row, Index query, Index key, double weight, double uniform);
  [[nodiscard]] Vector received_at(Eigen::Ref<const Vector> received, std::size_t kind) const;
  void set_null(std::size_t kind, const Sums& sums, DocumentTraces& result) const;

  HeadGrid grid_;
  Index length_, reach_;
  bool causal_ = false;
  std::array<std::vector<bool>, pairs_kinds> kept_;      ///< (T) whether a position counts
  std::array<std::vector<Index>, pairs_kinds> dropped_;  ///< the positions that do not
  std::array<Sums, pairs_kinds> sums_;                   ///< [all] everything; the others: what they leave out
};

/// Offset traces of a job: means over documents, and every document's own near traces.
struct OffsetTraces {
  HeadGrid grid;
  Index documents = 0;
  Index length = 0;                       ///< T of the longest document
  Index reach = 0;                        ///< largest |t| of the near traces, in tokens
  std::array<Matrix, pairs_kinds> trace;  ///< (rows, 2 T - 1)      mean over documents of tr_t
  std::array<Matrix, pairs_kinds>
      weight;                             ///< (rows, 2 T - 1)      mean over documents of tr_t / count_t; NaN: no pairs
  std::array<Vector, pairs_kinds> count;  ///< (2 T - 1)            mean over documents of the number of pairs
  std::array<Matrix, pairs_kinds> null_weight;     ///< (rows, 2 reach + 1)  mean over documents
  std::array<Matrix, pairs_kinds> null_deviation;  ///< (rows, 2 reach + 1)  standard deviation of that mean
  Matrix by_document;                              ///< (documents * rows, 2 reach + 1) tr_t of all pairs
};

/// Adds documents up in the order in which they are given.
class OffsetTraceSum {
 public:
  /// @param length  T of the longest document to come
  OffsetTraceSum(HeadGrid grid, Index documents, Index length, Index reach);
  void add(const DocumentTraces& document);
  /// @throws NumericError if a trace is not finite: the model computed NaN or infinity
  [[nodiscard]] OffsetTraces traces() const;

 private:
  OffsetTraces sum_;
  std::array<Vector, pairs_kinds> documents_with_pairs_;  ///< (2 T - 1)
};

/// Fields offset_trace/...
std::vector<Field> describe(const OffsetTraces& traces);

}  // namespace headwave
