#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "../numbers/matrix.h"
#include "../process/threads.h"
#include "block.h"
#include "document.h"

namespace headwave {

/// Keys that a query may look at: first .. end() - 1. An additive mask may forbid some of them.
struct KeySpan {
  Index first = 0;
  Index count = 0;

  [[nodiscard]] Index end() const { return first + count; }
};

/// @param query   position of the query
/// @param keys    n, valid key positions
/// @param window  keys this far away are masked, |i - j| < window; 0: no limit
/// @param chunk   keys of other chunks of so many tokens are masked; 0: no limit
/// @returns an empty span if no key is left
inline KeySpan allowed_keys(Index query, Index keys, bool causal, Index window, Index chunk = 0) {
  Index end = causal ? std::min(keys, query + 1) : window > 0 ? std::min(keys, query + window) : keys;
  Index first = window > 0 ? std::max<Index>(0, query - window + 1) : 0;
  if (chunk > 0) {
    const Index begin = query / chunk * chunk;
    first = std::max(first, begin);
    end = std::min(end, begin + chunk);
  }
  return {std::min(first, end), std::max<Index>(0, end - first)};
}

/// Some query rows of one layer's attention, all heads at once. Nothing here outlives the call.
template <class Scalar>
struct TileOf {
  Index layer = 0;
  AttentionKind kind = AttentionKind::self;
  Index first_row = 0;  ///< query position of row 0 of the matrices below
  Index queries = 0;    ///< n', valid query positions of the whole layer
  Index keys = 0;       ///< n, valid key positions; the matrices have this many columns
  Index window = 0;     ///< keys this far away are masked, |i - j| < window; 0: no limit
  /// One per head, (rows, keys): attention weights after the softmax. A row sums to 1, to less where the head has a sink
  /// (HeadInputs::sinks), or is zero where everything is masked. Under a causal mask entries right of the diagonal are zero.
  std::vector<MatrixViewOf<Scalar>> weights;
  /// One per head, (rows, keys): scaled scores before mask and softmax. Empty unless a probe wants them.
  std::vector<MatrixViewOf<Scalar>> scores;
  Index chunk = 0;     ///< keys of other chunks of so many tokens are masked; 0: no limit
  bool sinks = false;  ///< rows may sum to less than 1: a sink takes the rest

  [[nodiscard]] Index rows() const { return weights.empty() ? 0 : weights.front().rows(); }
  [[nodiscard]] Index heads() const { return static_cast<Index>(weights.size()); }

  [[nodiscard]] KeySpan allowed_keys(Index query) const {
    return headwave::allowed_keys(query, keys, kind == AttentionKind::causal, window, chunk);
  }
};

using Tile = TileOf<float>;     ///< models
using Tile64 = TileOf<double>;  ///< attention in double: worked examples and oracles

/// The hidden state that enters a layer's query, key and value projections; of cross-attention, the query
/// projection.
struct LayerInput {
  Index layer = 0;
  AttentionKind kind = AttentionKind::self;
  MatrixView32 states;                        ///< (T, d_model)
  const AttentionWeights* weights = nullptr;  ///< what projects them; null: not known
};

/// Queries and keys of a layer's heads, side by side, with bias: what the scores are made of.
struct LayerProjections {
  Index layer = 0;
  AttentionKind kind = AttentionKind::self;
  MatrixView32 query;         ///< (n', heads * d_head)  as projected, and normalised where the model does so
  MatrixView32 key;           ///< (n, kv_heads * d_head)
  MatrixView32 turned_query;  ///< the same after rotation; equal to the above without a rotary term
  MatrixView32 turned_key;
};

/// The values of a layer's heads, before they are averaged with the attention weights.
struct LayerValues {
  Index layer = 0;
  AttentionKind kind = AttentionKind::self;
  MatrixView32 values;             ///< (n, kv_heads * d_value)  with bias, one row per key
  const Linear* output = nullptr;  ///< W_O, (heads * d_value) to d_model; null: not known
};

/// The outputs A V of a layer's heads, before W_O, with their gate where there is one.
struct LayerHeads {
  Index layer = 0;
  AttentionKind kind = AttentionKind::self;
  MatrixView32 outputs;  ///< (n', heads * d_value)  A V of every head, side by side
  Index heads = 0;
};

/// The parts of a block that write to the residual stream.
enum class Sublayer { attention, cross_attention, feed_forward };

/// What a sublayer adds to the residual stream, before added_norm and residual_scale.
struct StreamAddition {
  Index layer = 0;
  AttentionKind kind = AttentionKind::self;  ///< of the stack's attention within its sequence: self or causal
  Sublayer sublayer = Sublayer::attention;
  MatrixView32 added;  ///< (T, d_model)
  VectorView32 bias;   ///< (d_model) of the sublayer's last projection, part of `added`; or empty
};

/// Watches attention while it is computed, tile by tile. A probe belongs to one document, is called from one
/// thread at a time, and accumulates in double.
class Probe {
 public:
  Probe() = default;
  Probe(const Probe&) = delete;
  Probe& operator=(const Probe&) = delete;
  virtual ~Probe() = default;

  /// Whether tiles must carry the scores before mask and softmax. Costs one copy of the tile.
  [[nodiscard]] virtual bool wants_scores() const { return false; }

  /// Whether the probe is to be shown values and head outputs. Costs the values of the last layer, which
  /// nobody else needs.
  [[nodiscard]] virtual bool wants_values() const { return false; }

  /// Whether the probe is to be shown queries and keys.
  [[nodiscard]] virtual bool wants_projections() const { return false; }

  /// Called where the probe wants projections, once per layer before its tiles.
  virtual void see(const LayerProjections& /*projections*/) {}

  /// Called once per layer before its tiles.
  virtual void see(const LayerInput& /*input*/) {}

  /// Called for every tile: layers in order, rows in order within a layer.
  virtual void see(const Tile& tile) = 0;

  /// Called instead if attention is computed in double. By default the tile is rounded to float and passed
  /// on.
  virtual void see(const Tile64& tile);

  /// Called if the probe wants values, once per layer between its input and its tiles. Not called if only
  /// queries and keys are known, as of stored ones.
  virtual void see(const LayerValues& /*values*/) {}

  /// Called where the probe wants values, once per layer after its tiles.
  virtual void see(const LayerHeads& /*heads*/) {}

  /// Called with what every sublayer adds, after its tiles. Not called after the last attention if final
  /// states are not needed.
  virtual void see(const StreamAddition& /*addition*/) {}
};

/// Query rows per tile: 64 rows of 512 keys and 12 heads in float are 1.5 MB, which stays in a core's cache.
/// Beyond 65,536 keys fewer, down to 16: a tile of 12 heads takes at most 200 MB until there are 262,144.
constexpr Index tile_rows(Index keys) {
  constexpr Index most = 64, least = 16, entries = most * 65536;
  return std::clamp(entries / std::max<Index>(keys, 1), least, most);
}

/// Query rows first .. first + count - 1.
struct RowSpan {
  Index first = 0, count = 0;
};

/// Goes over the query rows of a layer tile by tile, and shows each to the probes.
/// @param tile  the members that all tiles share
/// @param fill  (tile, rows) puts weights, and scores where they are wanted, of so many rows from
///         tile.first_row on
/// @param rows  the query rows to go over, ascending; empty: all
/// @throws Stopped between two tiles, if that was asked for
template <class Scalar, class Fill>
void walk_tiles(TileOf<Scalar> tile, std::span<Probe* const> probes, const Fill& fill,
                const std::vector<RowSpan>& rows = {}) {
  const Index most = tile_rows(tile.keys);
  const auto walk = [&](const RowSpan& span) {
    const Index end = std::min(tile.queries, span.first + span.count);
    for (Index first = span.first; first < end; first += most) {
      stop_if_asked();
      tile.first_row = first;
      tile.weights.clear();
      tile.scores.clear();
      fill(tile, std::min(most, end - first));
      for (Probe* probe : probes) probe->see(tile);
    }
  };
  if (rows.empty()) walk({0, tile.queries});
  for (const RowSpan& span : rows) walk(span);
}

}  // namespace headwave
