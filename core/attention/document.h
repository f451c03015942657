#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "../numbers/matrix.h"

namespace headwave {

/// What a query may attend to: its sequence (self), tokens up to itself (causal), or another sequence
/// (cross).
enum class AttentionKind { self, causal, cross };

/// The name of a kind in results: "self", "causal", "cross".
const char* name_of(AttentionKind kind);

/// Attention weights of one layer that another program computed, to be read some rows at a time.
struct FinishedAttention {
  Index heads = 0;
  Index length = 0;    ///< T
  std::string called;  ///< name in messages, for example "a.h5: 'attentions/layer_0' document 3"
  /// Reads the query rows first .. first + count - 1 of every head into a matrix (heads * count, T). Head h
  /// begins at row h * count of the matrix.
  std::function<Matrix32(Index first, Index count)> rows;

  [[nodiscard]] bool empty() const { return !rows; }
};

/// Stored arrays of one layer, for documents that do not pass through a model. T is the number of tokens.
struct StoredLayer {
  Index layer = 0;
  Matrix32 states;  ///< (T, d_model)         input of the layer's Q/K/V projections; or empty
  Matrix32 query;   ///< (T, heads * d_head)  with bias; empty: computed from states by the model's weights
  Matrix32 key;     ///< (T, kv_heads * d_head)
  FinishedAttention attention = {};  ///< used in place of the arrays above; or empty
};

/// A sequence of tokens.
struct TokenSequence {
  std::vector<std::int32_t> ids;      ///< (T) token ids; empty if only states were stored
  std::vector<std::string> tokens;    ///< (T) each token as a string; may be empty
  std::vector<std::uint8_t> special;  ///< (T) 1 for special tokens such as [CLS] or <s>, else 0; may be empty

  /// Whether token i is special; false if that is unknown.
  [[nodiscard]] bool is_special(Index i) const { return !special.empty() && special[static_cast<std::size_t>(i)] != 0; }
};

/// One sequence of T tokens. No token attends to tokens of another document, and uncertainty is estimated
/// over documents. In an encoder-decoder the encoder reads this sequence and the decoder reads `target`.
struct Document : TokenSequence {
  std::string name;                 ///< where it comes from, for example "wiki.test.raw, tokens 512 to 1023"
  TokenSequence target;             ///< (T') what the decoder reads; empty: there is no decoder
  std::vector<StoredLayer> stored;  ///< empty: the model is run on the ids

  /// Name in messages.
  [[nodiscard]] const char* label() const { return name.empty() ? "document" : name.c_str(); }
  /// T: the number of tokens.
  [[nodiscard]] Index length() const;
  /// The sequence whose tokens are the queries, or the keys, of a kind of attention.
  [[nodiscard]] const TokenSequence& query_tokens(AttentionKind kind) const;
  [[nodiscard]] const TokenSequence& key_tokens(AttentionKind kind) const;
  /// The number of queries, or of keys, of a kind of attention.
  [[nodiscard]] Index queries(AttentionKind kind) const;
  [[nodiscard]] Index keys(AttentionKind kind) const;
};

}  // namespace headwave
