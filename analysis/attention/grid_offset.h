#pragma once

#include <array>
#include <cstdlib>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "../../core/attention/probe.h"
#include "../../core/model/embedding.h"
#include "measured_offset.h"

namespace headwave {

/// Offsets between patches of a grid of R x C: down = -(R-1) ... R-1 rows from the query to the key, right =
/// -(C-1) ... C-1 columns. In matrices one after another, right quickest.
class GridLags {
 public:
  explicit GridLags(const PatchGrid& grid) : rows_(grid.rows), columns_(grid.columns) {}
  [[nodiscard]] Index count() const { return (2 * rows_ - 1) * (2 * columns_ - 1); }
  [[nodiscard]] Index place(Index down, Index right) const {
    return (down + rows_ - 1) * (2 * columns_ - 1) + right + columns_ - 1;
  }
  /// Number of pairs of patches at that offset.
  [[nodiscard]] double pairs(Index down, Index right) const {
    return static_cast<double>((rows_ - std::abs(down)) * (columns_ - std::abs(right)));
  }

 private:
  Index rows_, columns_;
};

/// Attention between patches, summed over images. P is the number of patches. `null_weight` and `null` say what
/// `weight` would be by chance: every query keeps its weights, and which patch it is is random.
struct GridOffsetSum {
  Index documents = 0;
  Matrix weight;       ///< (rows, lags)  mean attention weight of the pairs at an offset
  Matrix null_weight;  ///< (rows, lags)  expectation if queries are shuffled
  NullMoments null;    ///< (rows, lags)  its other moments
  DocumentCorrelation correlation;
  Matrix opening;   ///< (rows, first)  mean weight of patches on each opening token
  Matrix received;  ///< (rows, P)  mean weight that a patch gets from patches
  Matrix
      map;  ///< (rows * map queries, P)  weights of chosen queries on the patches of one image: opening tokens, and the middle patch
  std::string map_document;  ///< its name
  template <class Self>
  static auto members(Self& self) {
    return std::tie(self.documents, self.weight, self.null_weight, self.null, self.correlation, self.opening,
                    self.received, self.map, self.map_document);
  }
};

/// Where attention lands on the grid, head by head: means over documents, and where the largest lies.
struct GridOffsets {
  HeadGrid heads;
  PatchGrid grid;
  Index documents = 0;
  double level = 0;
  Matrix weight;                                      ///< (rows, lags)
  Matrix null_weight, null_deviation, null_skewness;  ///< (rows, lags)
  Vector correlation;                                 ///< (rows)  of images, as in OffsetTraces
  Matrix opening, received, map;                      ///< means over images; `map` of one image
  Vector down, right;                                 ///< (rows) patches; NaN where the status is not `offset`
  Vector peak, threshold,
      chance;  ///< (rows) largest mean weight, the threshold it had to exceed, its expectation under the null
  std::vector<OffsetStatus> status;
  std::string map_document;
};

/// The offset on the grid at which a head's attention is largest.
///
///     w(down, right) = mean over images of the mean of A[i, j] over pairs of patches, j - i = (down, right)   (1)
///     offset = argmax w over |down| <= R/2, |right| <= C/2                                                  (2)
///
/// The mean in (1) is over the pairs that there are, (R - |down|) (C - |right|): a far offset is no smaller
/// for having few. Opening tokens ([CLS]) are no patches: what goes to them is given beside it. (2) counts
/// only where it exceeds the head's own null, as measured_offsets() has it, with as many offsets as (2)
/// searches. Ties go to the nearest offset. An offset at the end of the search, beyond which the grid goes
/// on, is no estimate.
///
/// Not covered: a place in the image may draw attention wherever the query is. `received` shows that.
///
/// Source: as measured_offsets(); two-dimensional offsets of patches as in Cordonnier, Loukas and Jaggi 2020.
/// @param sum  of at least one image
/// @throws NumericError if a weight is not finite
GridOffsets grid_offsets(const GridOffsetSum& sum, const HeadGrid& heads, const PatchGrid& grid,
                         const MeasuredOffsetOptions& options = {});

/// Fields grid_offset/...
/// @param opening  what the opening tokens are called
std::vector<Field> describe(const GridOffsets& found, const std::vector<std::string>& opening);

/// In a job of images: grid_offset/... Keeps GridOffsets for analyses that read them.
const AnalysisKind& grid_offset_analysis();

/// Sums attention weights between patches by their offset on the grid.
///
/// The null is a head that ignores where a key is relative to the query, as in OffsetTraceProbe: each key
/// keeps the weights that it gets from other patches, and which patch gives which weight is drawn at random.
/// With m_j, v_j and w_j the mean, variance and third central moment of the weights A[i, j], i != j, that
/// patch j gets,
///
///     E[w] = sum m_j / n,  Var[w] = sum v_j / n^2,  third moment = sum w_j / n^3  over the n keys j at that offset   (1)
class GridOffsetProbe : public Probe {
 public:
  /// @param document  the document that will be seen
  /// @param map       keep the weights of chosen queries as well
  /// @param pairs     where weights are kept, to be compared with other images; null: nowhere. Must outlive the probe
  /// @throws ShapeError if the document has not as many tokens as the grid
  GridOffsetProbe(HeadGrid heads, const PatchGrid& grid, const Document& document, bool map,
                  const PlacePairs* pairs = nullptr);

  using Probe::see;
  /// @throws ShapeError if a tile has other heads or positions than were announced
  void see(const Tile& tile) override;

  [[nodiscard]] GridOffsetSum taken() const;

  /// Positions of the queries that a map shows: every opening token, then the middle patch.
  static std::vector<Index> map_queries(const PatchGrid& grid);

 private:
  void add_patch(Index row, Index patch, const Vector& weights);
  void set_null(GridOffsetSum& found) const;

  HeadGrid heads_;
  PatchGrid grid_;
  GridLags lags_;
  GridOffsetSum sums_;
  std::array<Matrix, 3> power_;  ///< (rows, P) first, second and third powers of the weights from other patches
  std::optional<PlacePairWeights> compared_;
};

}  // namespace headwave
