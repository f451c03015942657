#pragma once

#include <utility>

#include "../../core/attention/probe.h"
#include "site.h"

namespace headwave {

/// Attention of one query in one head.
struct HeadRow {
  const Tile& tile;
  Index row = 0;                                 ///< row of the head in the grid
  Index head = 0;                                ///< number of the head in its layer
  Index query = 0;                               ///< position of the query
  KeySpan open;                                  ///< keys that the mask allows
  Eigen::Map<const Eigen::RowVectorXf> weights;  ///< attention weights of these keys

  /// Attention weight of a key; 0 if the mask forbids the key.
  [[nodiscard]] double on(Index key) const {
    return key >= open.first && key < open.end() ? static_cast<double>(weights[key - open.first]) : 0.0;
  }
};

/// Base of probes that see a site's attention row by row, that is, one query in one head. Other kinds of
/// attention are skipped.
class RowLook : public Probe {
 public:
  explicit RowLook(const Site& site) : site_(site) {}
  using Probe::see;
  void see(const Tile& tile) final {
    if (tile.kind != site_.kind) return;
    const Index first = site_.grid.first_row(tile.layer);
    begin(tile, first);
    for (Index r = 0; r < tile.rows(); ++r) {
      const KeySpan open = tile.allowed_keys(tile.first_row + r);
      for (Index head = 0; head < tile.heads(); ++head) {
        const float* const keys = tile.weights[static_cast<std::size_t>(head)].row(r).data() + open.first;
        row({tile, first + head, head, tile.first_row + r, open, {keys, open.count}});
      }
    }
  }

 protected:
  /// Called before the rows of a tile.
  /// @param first_row  row of the grid that belongs to the tile's first head
  virtual void begin(const Tile& /*tile*/, Index /*first_row*/) {}
  /// Called for every query in order, and within a query for every head.
  virtual void row(const HeadRow& one) = 0;
  [[nodiscard]] const Site& site() const { return site_; }

 private:
  const Site& site_;
};

/// Calls a function with every row of attention: function(head, query, weights of all keys).
template <class Row>
class RowProbe : public Probe {
 public:
  explicit RowProbe(Row row) : row_(std::move(row)) {}
  using Probe::see;
  void see(const Tile& tile) override {
    for (Index head = 0; head < tile.heads(); ++head)
      for (Index r = 0; r < tile.rows(); ++r)
        row_(head, tile.first_row + r, tile.weights[static_cast<std::size_t>(head)].row(r).transpose());
  }

 private:
  Row row_;
};

}  // namespace headwave
