#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "../../core/attention/probe.h"
#include "../../core/fields/head_name.h"
#include "../../core/model/model.h"
#include "../../core/numbers/matrix.h"

namespace headwave {

/// A source: a part of the network that writes to the residual stream.
struct StreamSource {
  enum class Kind : std::uint8_t { words, positions, constants, attention, cross_attention, feed_forward, others };
  Kind kind = Kind::words;
  Index layer = -1;  ///< layer of an attention or feed-forward source; otherwise -1
  Index head = -1;   ///< head, if each head is a source of its own; -1: all heads together

  /// "words", "positions", "constants", "attention 0", "cross-attention 0", "feed-forward 0", "L0H3"
  [[nodiscard]] std::string name() const;
  bool operator==(const StreamSource&) const = default;
};

constexpr Index constants_source = 2;  ///< index of the source of biases, token types and shifts of norms

/// Applies a norm to each part of a sum so that the parts add up to norm(sum). Each part is centred (except
/// in RMS norms), divided by the standard deviation of the sum in its row, and scaled.
/// @param count     number of rows of each part
/// @param parts     (parts * count, d)  row r of part s is row s * count + r
/// @param constant  index of the part to which the norm's shift is added
void hold_norm(const Norm& norm, Index count, Index constant, Matrix32& parts);

/// Queries of each part of the states that enter attention. They add up to the queries of the states. The
/// bias is added to the constants. Norms of compressed states and of queries are applied by hold_norm().
/// @param parts  (parts * count, d_model)  with at least constants_source + 1 parts
/// @param head   the head to compute; below 0: all heads
/// @returns (parts * count, heads * d_head)
Matrix32 query_parts(const Matrix32& parts, const AttentionWeights& weights, Index count, const BlockSpec& block,
                     Index head = -1);
/// Keys of each part, computed as in query_parts().
/// @param head  the key head to compute; below 0: all key heads
/// @returns (parts * count, kv_heads * d_head)
Matrix32 key_parts(const Matrix32& parts, const AttentionWeights& weights, Index count, const BlockSpec& block,
                   Index head = -1);

/// The residual stream at some places of one document as a sum over sources: words, positions, constants
/// (biases, token types), attention and feed-forward of each block. hold_norm() applies norms to the parts.
///
/// Source: Elhage et al. 2021 ("A mathematical framework for transformer circuits") and Kobayashi et al.
/// 2021, arXiv:2109.07152, for norms of parts.
class StreamParts {
 public:
  /// Starts with the embeddings, which enter the first block.
  /// @param first, count  first place to follow, and number of places
  /// @param by_head       whether each head is a source; then call add_heads() before each add() of attention
  /// @param apart         sources to keep separate besides words, positions and constants; the rest forms one
  ///                      source, "others". Empty: all sources are separate
  /// @throws any error that word_rows() throws
  StreamParts(const Stack& stack, const TokenSequence& tokens, Index first, Index count, bool by_head,
              std::vector<StreamSource> apart = {});

  /// Adds what a sublayer writes. Must be called in the order of the model's sublayers.
  void add(const StreamAddition& addition);
  /// Computes what each head writes, for the add() that follows.
  /// @param output  W_O
  void add_heads(const LayerHeads& heads, const Linear& output);

  /// The parts that enter the projections of a layer's attention. Call it after adding all earlier blocks.
  /// @returns (sources * count, d_model)
  [[nodiscard]] Matrix32 entering(Index layer) const;

  [[nodiscard]] const std::vector<StreamSource>& sources() const { return sources_; }

 private:
  void append(const Matrix32& parts, const std::vector<StreamSource>& sources);

  const Stack& stack_;
  Index first_, count_;
  bool by_head_;
  std::vector<StreamSource> apart_;
  std::vector<StreamSource> sources_;
  Matrix32 parts_;  // (sources * count, d_model)
  Matrix32 heads_;  // (heads * count, d_model)  what the heads write in the next add()
};

/// Shares of the sources of keys in the position kernel, equation (3) of score_sources.cpp.
struct KeySources {
  std::vector<StreamSource> sources;  ///< sources of the last layer
  Matrix shares;                      ///< (rows, sources)  rows add up to 1; 0 for sources in later layers
};

}  // namespace headwave
