#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "../numbers/matrix.h"

namespace headwave {

/// Whether a layer attends to its own sequence in both directions, to the past of its own sequence, or to
/// another sequence.
enum class AttentionKind { self, causal, cross };

/// The name a kind has in results: "self", "causal", "cross".
const char* name_of(AttentionKind kind);

/// Attention weights of one layer that another program computed, read some rows at a time. T = tokens.
struct FinishedAttention {
  Index heads = 0;
  Index length = 0;    ///< T
  std::string called;  ///< as messages call it: "a.h5: 'attentions/layer_0' document 3"
  /// Rows first .. first + count - 1 of every head: (heads * count, T), those of head h from row h * count
  /// on.
  std::function<Matrix32(Index first, Index count)> rows;

  [[nodiscard]] bool empty() const { return !rows; }
};

/// Stored arrays of one layer, for documents that do not pass through a model. T = tokens.
struct StoredLayer {
  Index layer = 0;
  Matrix32 states;  ///< (T, d_model)         what enters the layer's Q/K/V projections; or empty
  Matrix32 query;   ///< (T, heads * d_head)  with bias; or empty: then the model's weights make it from the states
  Matrix32 key;     ///< (T, kv_heads * d_head)
  FinishedAttention attention = {};  ///< finished attention, in place of the arrays above; or empty
};

/// Tokens one after another.
struct TokenSequence {
  std::vector<std::int32_t> ids;      ///< (T) token ids; empty if only states were stored
  std::vector<std::string> tokens;    ///< (T) the text each token stands for; may be empty
  std::vector<std::uint8_t> special;  ///< (T) 1 where the token is [CLS], [SEP], <s> and the like; may be empty

  /// Whether token i is special; false if that is unknown.
  [[nodiscard]] bool is_special(Index i) const { return !special.empty() && special[static_cast<std::size_t>(i)] != 0; }
};

/// One sequence of T tokens: the unit that is attended over, and over which uncertainty is counted. For an
/// encoder-decoder the sequence that the encoder reads, and beside it the one that the decoder reads.
struct Document : TokenSequence {
  std::string name;                 ///< where it came from: "wiki.test.raw, tokens 512 to 1023"
  TokenSequence target;             ///< (T') what a decoder reads while it looks at the encoder; empty: there is none
  std::vector<StoredLayer> stored;  ///< layers that were stored; empty: the model is run on the ids

  /// Its name in messages.
  [[nodiscard]] const char* label() const { return name.empty() ? "document" : name.c_str(); }
  /// T: the number of tokens.
  [[nodiscard]] Index length() const;
  /// The tokens of the queries, and of the keys, of a kind of attention.
  [[nodiscard]] const TokenSequence& query_tokens(AttentionKind kind) const;
  [[nodiscard]] const TokenSequence& key_tokens(AttentionKind kind) const;
  /// How many queries, and how many keys, a kind of attention has.
  [[nodiscard]] Index queries(AttentionKind kind) const;
  [[nodiscard]] Index keys(AttentionKind kind) const;
};

}  // namespace headwave
