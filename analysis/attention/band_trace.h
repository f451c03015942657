#pragma once

#include <tuple>
#include <vector>

#include "../../core/attention/probe.h"
#include "../../core/fields/head_grid.h"
#include "query_bands.h"

namespace headwave {

/// Attention weights summed along the diagonals of every band of queries b, and what they would be if it did not matter
/// which of the band's queries gives a key its weight. Columns are those of QueryBands.
///
///     D_b(t) = sum over i in b of A[i, i+t]                                                    (1)
///     E_b(t) = sum over i in b of m_(i+t),   V_b(t) = sum over i in b of v_(i+t)               (2)
///
/// m_j and v_j are mean and variance of the weights that key j gets from those queries of b that may look at it. A key
/// that draws everybody (the first token, [SEP]) is in (2) as it is in (1): what (1) has above (2) belongs to the offset.
/// (2) takes keys as independent of one another, and leaves the weight of a key that a single query sees as it is.
///
/// Three times fewer than (bands + 1) T numbers of each head, for every document that passes by and for their sum.
///
/// Source: this project; shuffling as a null after Hoeffding 1951.
struct BandTraces {
  Matrix weight;              ///< (rows, columns)  D
  Matrix expected, variance;  ///< (rows, columns)  E, V
  Matrix largest;             ///< (rows, bands)    largest single weight beyond the reach
  Matrix beyond;              ///< (rows, bands)    sum of the weights beyond the reach
  Matrix special;             ///< (rows, bands)    ... of those on special tokens and the document's first
  Vector pairs;               ///< (columns)        query-key pairs
  Vector queries;             ///< (bands)
  Vector uniform;  ///< (bands)          sum over queries of the share of their keys that lies beyond the reach
  template <class Self>
  static auto members(Self& self) {
    return std::tie(self.weight, self.expected, self.variance, self.largest, self.beyond, self.special, self.pairs,
                    self.queries, self.uniform);
  }
  BandTraces() = default;
  BandTraces(Index rows, const QueryBands& bands);
  BandTraces& operator+=(const BandTraces& other);
};

/// Sums one document up while it passes by.
class BandTraceProbe : public Probe {
 public:
  /// @param bands   of the longest document of the job
  /// @param reach   |t| up to which a key counts as near, in tokens
  /// @param apart   positions of special tokens and of the first, ascending
  BandTraceProbe(HeadGrid grid, QueryBands bands, Index reach, AttentionKind kind, std::vector<Index> apart = {});

  using Probe::see;
  /// @throws ShapeError if a tile has other heads than announced, queries that are not its keys, or more than T
  void see(const Tile& tile) override;

  /// What was gathered.
  [[nodiscard]] BandTraces taken() { return std::move(traces_); }

 private:
  void begin_band(Index heads);
  void add_row(const Tile& tile, Index head, Index r, Index query);
  void end_band(const Tile& tile, Index band);
  void count(const Tile& tile, Index band);
  void add_expected(const Tile& tile, Index band, Index row, Index head);

  HeadGrid grid_;
  QueryBands bands_;
  Index reach_;
  AttentionKind kind_;
  std::vector<Index> apart_;
  Matrix sums_, squares_;  ///< (heads, T)  by key, of the band that passes by
  Index counted_ = -1;     ///< the layer whose tiles count pairs and queries: the first of those that look furthest
  Index window_ = 0;       ///< its window
  BandTraces traces_;
};

/// Positions that a document's statistics had better show apart: special tokens and the first one.
std::vector<Index> special_positions(const Document& document, AttentionKind kind);

}  // namespace headwave
