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

constexpr double interval_coverage = 0.9;

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

/// Sums over documents.
struct AccountSums {
  std::array<AccountHalf, 2> halves;
  template <class Self>
  static auto members(Self& self) {
    return std::tie(self.halves);
  }
  [[nodiscard]] Index documents() const { return halves[0].documents + halves[1].documents; }
};

/// Whether the contents of a document are dealt. As many are as take `tokens` tokens, at least 8, for 0 tokens none: pairs of
/// neighbours of even and odd number, evenly spread. Each is kept whole, so this bounds the memory of an account.
/// @param number  of `documents`, from 0
/// @param length  T of each
bool is_dealt(Index number, Index documents, Index length, Index tokens = 4096);

/// Mean queries and keys of two halves of the documents, for analyses of attention by position alone.
struct AccountHalves {
  AccountSite site;
  std::array<AccountHalf, 2> halves;  ///< sums; of one document the second is empty
};

/// (places)  1: a special token, or the first: its content is never dealt.
std::vector<std::uint8_t> places_that_stay(const TokenSequence& tokens, Index places);

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

}  // namespace headwave
