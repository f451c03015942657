#pragma once

#include <cstdint>
#include <tuple>
#include <vector>

#include "../../core/attention/probe.h"
#include "../../core/numbers/random.h"

namespace headwave {

/// Offset profiles of a layer's heads with places in random order: the null of the claim that a profile comes
/// from how far apart query and key are.
///
/// A draw puts all places but those that stay in a random order p, one order for every document that is
/// shown. The weight of query i on key j counts at offset t = p(j) - p(i). A weight that depends on the
/// distance no longer does; one that depends on the two places otherwise (a position table without order)
/// stays as it is. Under a causal mask, which is about the true places, the distance alone is drawn: t =
/// -|p(j) - p(i)|. In cross-attention places of queries and of keys are in two orders: nothing is at a
/// distance of zero from itself.
class ShuffledPlaces : public Probe {
 public:
  /// Sums over the pairs that a draw puts at an offset t = -reach .. reach. The first token is neither query
  /// nor key.
  struct Draw {
    Matrix weights;  ///< (heads, 2 reach + 1)
    Vector uniform;  ///< (2 reach + 1)  what uniform attention would give
    Vector pairs;    ///< (2 reach + 1)
    Draw& operator+=(const Draw& other);
  };

  /// @param query_stays  (places of queries)  1: this place stays where it is in every draw
  /// @param key_stays    (places of keys)  the same; but in cross-attention the same places
  ShuffledPlaces(Index heads, Index reach, AttentionKind kind, const std::vector<std::uint8_t>& query_stays,
                 const std::vector<std::uint8_t>& key_stays, Index draws, const Random& random);

  using Probe::see;
  void see(const Tile& tile) override;

  [[nodiscard]] const std::vector<Draw>& draws() const { return draws_; }

 private:
  /// The keys of one query that a draw puts within reach, and the columns at which they count.
  struct Reads {
    std::vector<Index> key, column;
  };
  void find_reads(std::size_t draw, Index query, KeySpan open, Reads& reads) const;

  Index reach_;
  bool causal_;
  std::vector<std::vector<Index>> place_;     ///< [draw] (places of queries)  p
  std::vector<std::vector<Index>> position_;  ///< [draw] (places of keys)  inverse of p of the keys
  std::vector<Draw> draws_;
};

}  // namespace headwave
