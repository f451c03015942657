#pragma once

#include <array>
#include <optional>
#include <vector>

#include "../../core/attention/probe.h"
#include "offset_trace.h"

namespace headwave {

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
