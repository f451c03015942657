#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <tuple>
#include <vector>

#include "../../core/attention/probe.h"
#include "../../core/fields/head_name.h"
#include "../../core/model/model.h"
#include "../../core/numbers/matrix.h"
#include "../../core/numbers/random.h"
#include "../pass/document_sum.h"

namespace headwave {

/// Parts of each half of the documents, which intervals leave out one at a time.
constexpr Index account_groups = 8;

/// The heads of one kind of attention that are accounted for, over documents of one length.
struct AccountSite {
  HeadGrid grid;
  AttentionKind kind = AttentionKind::self;
  Index length = 0;              ///< T, places of queries
  Index reach = 64;              ///< offsets |t| <= reach are accounted for; at most (longer() - 1) / 2
  const Stack* stack = nullptr;  ///< scale, masks, position terms; weights only where a term is compared
  bool no_positions = false;     ///< places (in cross-attention, of keys) are all the same
  Index key_length = 0;          ///< of cross-attention: places of keys

  [[nodiscard]] bool crosses() const { return kind == AttentionKind::cross; }
  [[nodiscard]] Index keys() const { return crosses() ? key_length : length; }
  [[nodiscard]] Index longer() const { return std::max(length, keys()); }
  /// Position term of a layer of the grid; null in cross-attention.
  [[nodiscard]] PositionTerm term(std::size_t place) const {
    return crosses() ? PositionTerm{} : stack->term(grid.layers[place]);
  }
  /// Window of the mask of a layer of the grid; 0: no limit.
  [[nodiscard]] Index window(std::size_t place) const { return crosses() ? 0 : stack->window(grid.layers[place]); }
  /// Whether a head of a layer of the grid can know places at all. Under a causal mask layers above 0 may
  /// count their keys.
  [[nodiscard]] bool tells_places(std::size_t place) const {
    return !no_positions || (kind == AttentionKind::causal && grid.layers[place] > 0);
  }
};

/// Queries and keys of one layer before a rotary term turns them.
struct LayerQueriesKeys {
  Matrix32 query;  ///< (T, heads * d_head)
  Matrix32 key;    ///< (T, kv_heads * d_head); in cross-attention (key_length, kv_heads * d_head)
};

/// One document that is kept whole, since its contents are dealt.
struct AccountDocument {
  Index number = 0;                              ///< among the documents of this length, from 0
  std::vector<std::uint8_t> query_stays;         ///< (T)  1: a special token, or the first: never dealt
  std::vector<std::uint8_t> key_stays;           ///< the same of keys; other tokens in cross-attention
  std::vector<LayerQueriesKeys> layers;          ///< one for each layer of the grid
  std::vector<std::int32_t> query_ids, key_ids;  ///< (T), (key_length)  tokens; empty: not known
  std::uint8_t first_key_special = 0;            ///< 1: the first key stays because it is a special token
};

/// Sums over one half of the documents: the documents of even number, or of odd number.
struct AccountHalf {
  Index documents = 0;
  std::vector<LayerQueriesKeys> layers;  ///< sums of queries and keys at every place
  std::vector<Index> group_documents;    ///< (groups)
  std::vector<Matrix> group_weights;     ///< [group] (rows, 2 reach + 1)  sums over i of A[i, i+t]
  ByDocument<AccountDocument> to_deal;   ///< documents whose contents are dealt
};

/// Offset profiles of one layer's attention with places in random order, summed over the pairs that a draw puts
/// at an offset t = -reach .. reach. The first token is neither query nor key.
struct ShuffledDraw {
  Matrix weights;  ///< (heads, 2 reach + 1)
  Vector uniform;  ///< (2 reach + 1)  what uniform attention would give
  Vector pairs;    ///< (2 reach + 1)
};

/// Sums over documents.
struct AccountSums {
  std::array<AccountHalf, 2> halves;
  template <class Self>
  static auto members(Self& self) {
    return std::tie(self.halves);
  }
  [[nodiscard]] Index documents() const { return halves[0].documents + halves[1].documents; }
};

/// Number of documents that are dealt, evenly spread over all: enough for `tokens` tokens, at least 8; for 0
/// tokens none. Each is kept whole, so this bounds the memory of an account.
/// @param length  T of each
Index dealt_documents(Index documents, Index length, Index tokens = 4096);

/// Whether a document is among `dealt` of `documents`: in pairs of neighbours of even and odd number, evenly
/// spread.
bool is_dealt(Index number, Index documents, Index dealt);

/// Places whose content may be dealt, ascending.
std::vector<Index> free_places(const std::vector<std::uint8_t>& stays);

/// For each place, the place that its content comes from. Free places are shuffled; the others keep their
/// content.
std::vector<Index> dealt_places(const std::vector<std::uint8_t>& stays, Random& random);

/// Mean queries or keys of every place with the contents of one document's tokens, each from another place.
Matrix32 dealt(const Matrix32& mean, const Matrix32& own, const std::vector<Index>& from);

/// Watches one document: sums attention weights along diagonals, keeps queries and keys.
class AccountProbe : public Probe {
 public:
  /// @param number  of the document among those of this length, from 0
  /// @param dealt   keep the document whole
  AccountProbe(const AccountSite& site, Index number, const Document& document, bool dealt);

  [[nodiscard]] bool wants_projections() const override { return true; }
  using Probe::see;
  void see(const LayerProjections& projections) override;
  void see(const Tile& tile) override;

  [[nodiscard]] AccountSums taken();

 private:
  AccountSite site_;
  bool dealt_;
  AccountDocument document_;
  Matrix weights_;  ///< (rows, 2 reach + 1)
};

/// Adds a tile's weights along diagonals |t| <= reach, the first token of a sequence neither query nor key.
/// @param sums  (heads, 2 reach + 1)
void add_near_weights(const Tile& tile, Index reach, Eigen::Ref<Matrix> sums);

/// Attention of one layer of a site over queries and keys of our own making, with the model's scale, mask and
/// position term; probes see it as layer 0.
/// @param place  of the layer in the grid
/// @param added  (heads, 2 L - 1), L = longer()  added to the scores at t = -(L-1) .. L-1; or empty
/// @param head   the only head, whose queries and keys these are, of a site of one; below 0: all are there
/// @param rows   query rows that are computed; empty: all
void attend_layer(const AccountSite& site, std::size_t place, const Matrix32& query, const Matrix32& key,
                  const Matrix32& added, std::span<Probe* const> probes, Index head = -1,
                  const std::vector<RowSpan>& rows = {});

/// Offset profiles of a layer's heads with places in random order: the null of the claim that a profile comes
/// from how far apart query and key are.
///
/// A draw puts all places but those that stay in a random order p, one order for every document that is
/// shown. The weight of query i on key j counts at offset t = p(j) - p(i). A weight that depends on the
/// distance no longer does; one that depends on the two places otherwise (a position table without order)
/// stays as it is. A causal mask is about the true places, so under it only the distance is drawn: t = -|p(j)
/// - p(i)|. In cross-attention queries and keys get an order each, since no token meets itself.
class ShuffledPlaces : public Probe {
 public:
  /// @param query_stays  (places of queries)  1: this place stays where it is in every draw
  /// @param key_stays    (places of keys)  the same; but in cross-attention the same places
  ShuffledPlaces(Index heads, Index reach, AttentionKind kind, const std::vector<std::uint8_t>& query_stays,
                 const std::vector<std::uint8_t>& key_stays, Index draws, const Random& random);

  using Probe::see;
  void see(const Tile& tile) override;

  [[nodiscard]] const std::vector<ShuffledDraw>& draws() const { return draws_; }

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
  std::vector<ShuffledDraw> draws_;
};

}  // namespace headwave
