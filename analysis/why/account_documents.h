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

/// Number of groups of documents. Intervals come from omitting one group at a time.
constexpr Index account_groups = 8;

constexpr double interval_coverage = 0.9;

/// The heads of one kind of attention, over documents of one length. Arguments called
/// `place` are indices into grid.layers.
struct AccountSite {
  HeadGrid grid;
  AttentionKind kind = AttentionKind::self;
  Index length = 0;              ///< T, number of queries
  Index reach = 64;              ///< largest offset |t| of a profile; at most (longer() - 1) / 2
  const Stack* stack = nullptr;  ///< gives scale, masks, position terms and learned sinks
  bool no_positions = false;     ///< the model encodes no positions (in cross-attention, no positions of keys)
  Index key_length = 0;          ///< number of keys in cross-attention

  [[nodiscard]] bool crosses() const { return kind == AttentionKind::cross; }
  [[nodiscard]] Index keys() const { return crosses() ? key_length : length; }
  [[nodiscard]] Index longer() const { return std::max(length, keys()); }
  /// Position term of a layer; empty in cross-attention.
  [[nodiscard]] PositionTerm term(std::size_t place) const {
    return crosses() ? PositionTerm{} : stack->term(grid.layers[place]);
  }
  /// Window of a layer's mask, in tokens; 0: no limit.
  [[nodiscard]] Index window(std::size_t place) const { return crosses() ? 0 : stack->window(grid.layers[place]); }
  /// Whether the heads of a layer can tell places apart. Under a causal mask, layers above 0 can do so
  /// without encoded positions, since an earlier layer can count the keys of each query.
  [[nodiscard]] bool tells_places(std::size_t place) const {
    return !no_positions || (kind == AttentionKind::causal && grid.layers[place] > 0);
  }
};

/// Queries and keys of one layer before rotation.
struct LayerQueriesKeys {
  Matrix32 query;  ///< (T, heads * d_head)
  Matrix32 key;    ///< (T, kv_heads * d_head); in cross-attention (key_length, kv_heads * d_head)
};

/// A document that is kept whole so that its contents can be dealt.
struct AccountDocument {
  Index number = 0;                              ///< number of the document among those of this length, from 0
  std::vector<std::uint8_t> query_stays;         ///< (T)  1: special or first token, whose content is never dealt
  std::vector<std::uint8_t> key_stays;           ///< (keys)  the same for keys
  std::vector<LayerQueriesKeys> layers;          ///< one for each layer of the grid
  std::vector<std::int32_t> query_ids, key_ids;  ///< (T), (keys)  token ids; empty: unknown
  std::uint8_t first_key_special = 0;            ///< 1: the first key is a special token
};

/// Sums over one half of the documents: over those with even numbers, or over those with odd numbers.
struct AccountHalf {
  Index documents = 0;
  std::vector<LayerQueriesKeys> layers;  ///< sums of queries and keys at every place
  std::vector<Index> group_documents;    ///< [group]  number of documents
  std::vector<Matrix> group_weights;     ///< [group] (rows, 2 reach + 1)  sums over i of A[i, i+t]
  ByDocument<AccountDocument> to_deal;   ///< documents whose contents are dealt
};

struct AccountSums {
  std::array<AccountHalf, 2> halves;
  template <class Self>
  static auto members(Self& self) {
    return std::tie(self.halves);
  }
  [[nodiscard]] Index documents() const { return halves[0].documents + halves[1].documents; }
};

/// Whether a document is kept whole, so that its contents can be dealt. At least 8 documents are kept, and
/// more until the kept ones hold `tokens` tokens. Documents are kept in pairs (2k, 2k + 1), and these pairs are
/// evenly spread over all documents. If `tokens` is 0, no document is kept.
/// @param number  number of the document among `documents`, from 0
/// @param length  T, of every document
bool is_dealt(Index number, Index documents, Index length, Index tokens = 4096);

/// Results of head_account for analyses that run after it.
struct AccountHalves {
  AccountSite site;
  std::array<AccountHalf, 2> halves;  ///< if there is only one document, the second half is empty
};

/// Marks special tokens and the first token, whose contents are never dealt. @returns (places)  1: marked
std::vector<std::uint8_t> places_that_stay(const TokenSequence& tokens, Index places);

/// Places whose content may be dealt, ascending.
std::vector<Index> free_places(const std::vector<std::uint8_t>& stays);

/// Draws the place from which each place gets its content. Places that are not free keep their own content.
std::vector<Index> dealt_places(const std::vector<std::uint8_t>& stays, Random& random);

/// Deals contents: row i of the result is mean_i + own_f - mean_f, where f = from[i].
Matrix32 dealt(const Matrix32& mean, const Matrix32& own, const std::vector<Index>& from);

/// Sums the attention weights of one document along diagonals, and keeps its queries and keys.
class AccountProbe : public Probe {
 public:
  /// @param number  number of the document among those of this length, from 0
  /// @param dealt   whether to keep the document whole
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

/// Adds a tile's weights along the diagonals |t| <= reach. The first token is omitted, as query and as key.
/// @param sums  (heads, 2 reach + 1)
void add_near_weights(const Tile& tile, Index reach, Eigen::Ref<Matrix> sums);

/// Computes the attention of one layer from given queries and keys, with the layer's scale, soft cap, mask,
/// position term and learned sinks. Probes see it as layer 0.
/// @param added  (heads, 2 L - 1), L = longer()  added to the scores at t = -(L-1) .. L-1; may be empty
/// @param head   number of the head if site.stack has only this head; below 0: site.stack has all heads
/// @param rows   query rows to compute; empty: all rows
void attend_layer(const AccountSite& site, std::size_t place, const Matrix32& query, const Matrix32& key,
                  const Matrix32& added, std::span<Probe* const> probes, Index head = -1,
                  const std::vector<RowSpan>& rows = {});

}  // namespace headwave
