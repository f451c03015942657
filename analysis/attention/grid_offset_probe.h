#pragma once

#include <array>
#include <optional>

#include "../../core/attention/probe.h"
#include "grid_offset.h"

namespace headwave {

/// Sums attention weights between patches by their offset on the grid, while they pass by.
///
/// Beside it stands the null of a head that does not care where a key is relative to the query, as in OffsetTraceProbe:
/// each key keeps the weights it gets from other patches, but which gives which is drawn anew. With m_j, v_j and w_j the
/// mean, variance and third central moment of the weights A[i, j], i != j, that patch j gets,
///
///     E[w] = sum m_j / n,  Var[w] = sum v_j / n^2,  third moment = sum w_j / n^3  over the n keys j at that offset   (1)
class GridOffsetProbe : public Probe {
 public:
  /// @param document  the one that will pass by
  /// @param map       keep the weights of chosen queries as well
  /// @param pairs     where weights are kept, to be compared with other images; null: nowhere. Must outlive the probe
  /// @throws ShapeError if the document has not as many tokens as the grid
  GridOffsetProbe(HeadGrid heads, const PatchGrid& grid, const Document& document, bool map,
                  const PlacePairs* pairs = nullptr);

  using Probe::see;
  /// @throws ShapeError if a tile has other heads or positions than were announced
  void see(const Tile& tile) override;

  [[nodiscard]] DocumentGridOffsets found() const;

  /// Which queries a map shows: every opening token, then the patch in the middle. Positions.
  static std::vector<Index> map_queries(const PatchGrid& grid);

 private:
  void add_patch(Index row, Index patch, const Vector& weights);
  void set_null(DocumentGridOffsets& found) const;

  HeadGrid heads_;
  PatchGrid grid_;
  GridLags lags_;
  DocumentGridOffsets sums_;
  std::array<Matrix, 3> power_;  ///< (rows, P) first, second and third powers of the weights from other patches
  std::optional<PlacePairWeights> compared_;
};

}  // namespace headwave
