#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "../numbers/matrix.h"
#include "../process/threads.h"
#include "block.h"
#include "document.h"

namespace headwave {

/// The keys first .. end() - 1, to which a query may attend. An additive mask may forbid some of these keys.
struct KeySpan {
  Index first = 0;
  Index count = 0;

  [[nodiscard]] Index end() const { return first + count; }
};

/// The keys that masks allow to a query.
/// @param query   position of the query
/// @param keys    n, the number of keys
/// @param window  only keys with |i - j| < window; 0: no limit
/// @param chunk   only keys in the query's chunk of this many tokens; 0: no limit
/// @returns an empty span if no key is allowed
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

/// Some query rows of the attention of one layer, for all heads. Views are valid only during Probe::see().
template <class Scalar>
struct TileOf {
  Index layer = 0;
  AttentionKind kind = AttentionKind::self;
  Index first_row = 0;  ///< query position of row 0 of the matrices below
  Index queries = 0;    ///< n', number of queries of the whole layer
  Index keys = 0;       ///< n, number of keys, and of columns of the matrices
  Index window = 0;     ///< only keys with |i - j| < window; 0: no limit
  /// One per head, (rows, keys): attention weights after the softmax. A row sums to 1, or to less with a
  /// learned sink; it is zero if every key is masked. Masked entries are zero.
  std::vector<MatrixViewOf<Scalar>> weights;
  /// One per head, (rows, keys): scaled scores before mask and softmax. Empty unless a probe wants them.
  std::vector<MatrixViewOf<Scalar>> scores;
  Index chunk = 0;     ///< only keys in the query's chunk of this many tokens; 0: no limit
  bool sinks = false;  ///< whether heads have learned sinks, so that rows sum to less than 1

  [[nodiscard]] Index rows() const { return weights.empty() ? 0 : weights.front().rows(); }
  [[nodiscard]] Index heads() const { return static_cast<Index>(weights.size()); }

  [[nodiscard]] KeySpan allowed_keys(Index query) const {
    return headwave::allowed_keys(query, keys, kind == AttentionKind::causal, window, chunk);
  }
};

using Tile = TileOf<float>;     ///< attention of models, in float
using Tile64 = TileOf<double>;  ///< attention in double, for worked examples and oracles

/// The states that a layer projects to queries, keys and values, or in cross-attention only to queries.
struct LayerInput {
  Index layer = 0;
  AttentionKind kind = AttentionKind::self;
  MatrixView32 states;                        ///< (T, d_model)
  const AttentionWeights* weights = nullptr;  ///< the layer's projections; null: unknown
};

/// Queries and keys of a layer, all heads side by side, with bias.
struct LayerProjections {
  Index layer = 0;
  AttentionKind kind = AttentionKind::self;
  MatrixView32 query;         ///< (n', heads * d_head)  after the model's norm and temperature, if any
  MatrixView32 key;           ///< (n, kv_heads * d_head)
  MatrixView32 turned_query;  ///< `query` after rotation; equal to `query` if there is no rotary term
  MatrixView32 turned_key;
};

/// Values of a layer, all heads side by side, before they are averaged with the attention weights.
struct LayerValues {
  Index layer = 0;
  AttentionKind kind = AttentionKind::self;
  MatrixView32 values;             ///< (n, kv_heads * d_value)  with bias, one row per key
  const Linear* output = nullptr;  ///< W_O, (heads * d_value) to d_model; null: unknown
};

/// Outputs A V of a layer, all heads side by side, before W_O.
struct LayerHeads {
  Index layer = 0;
  AttentionKind kind = AttentionKind::self;
  MatrixView32 outputs;  ///< (n', heads * d_value)
  Index heads = 0;
};

/// The parts of a block that write to the residual stream.
enum class Sublayer { attention, cross_attention, feed_forward };

/// The output of a sublayer, which is added to the residual stream after added_norm and residual_scale.
struct StreamAddition {
  Index layer = 0;
  AttentionKind kind = AttentionKind::self;  ///< own kind of the stack, self or causal, for every sublayer
  Sublayer sublayer = Sublayer::attention;
  MatrixView32 added;  ///< (T, d_model)
  VectorView32 bias;   ///< (d_model) bias of the last projection, a part of `added`; or empty
};

/// Watches attention while it is computed, tile by tile. A probe belongs to one document, is called by one
/// thread at a time, and accumulates in double.
class Probe {
 public:
  Probe() = default;
  Probe(const Probe&) = delete;
  Probe& operator=(const Probe&) = delete;
  virtual ~Probe() = default;

  /// Whether tiles must carry the scores before mask and softmax. This costs one copy of the tile.
  [[nodiscard]] virtual bool wants_scores() const { return false; }

  /// Whether the probe wants values and head outputs. This costs the values of the last layer.
  [[nodiscard]] virtual bool wants_values() const { return false; }

  /// Whether the probe wants queries and keys.
  [[nodiscard]] virtual bool wants_projections() const { return false; }

  /// Called once per layer, before the layer's tiles, if the probe wants projections.
  virtual void see(const LayerProjections& /*projections*/) {}

  /// Called once per layer, before the layer's tiles, if states are known.
  virtual void see(const LayerInput& /*input*/) {}

  /// Called for every tile, in the order of layers and of rows within a layer.
  virtual void see(const Tile& tile) = 0;

  /// Called for every tile of attention in double. The default calls see() with the tile rounded to float.
  virtual void see(const Tile64& tile);

  /// Called once per layer, after the layer's input and before its tiles, if the probe wants values. Not
  /// called for stored queries and keys, which come without values.
  virtual void see(const LayerValues& /*values*/) {}

  /// Called once per layer, after the layer's tiles, if the probe wants values.
  virtual void see(const LayerHeads& /*heads*/) {}

  /// Called for every sublayer, for attention after its tiles. The model's last attention and later sublayers
  /// are shown only if final states are needed.
  virtual void see(const StreamAddition& /*addition*/) {}
};

/// Number of query rows per tile. It is 64, since 64 rows of 512 keys and 12 heads in float take 1.5 MB,
/// which fits into a core's cache. Beyond 65,536 keys it falls down to 16, so that a tile of 12 heads takes
/// at most 200 MB for up to 262,144 keys.
constexpr Index tile_rows(Index keys) {
  constexpr Index most = 64, least = 16, entries = most * 65536;
  return std::clamp(entries / std::max<Index>(keys, 1), least, most);
}

/// The query rows first .. first + count - 1.
struct RowSpan {
  Index first = 0, count = 0;
};

/// Fills the query rows of a layer tile by tile, and shows each tile to the probes.
/// @param tile  has the members that are equal in all tiles
/// @param fill  called as fill(tile, rows): sets the weights, and the scores if a probe wants them, of `rows`
///              query rows, the first of which is tile.first_row
/// @param rows  query rows to fill, ascending; empty: all
/// @throws Stopped between two tiles if the computation was cancelled
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
