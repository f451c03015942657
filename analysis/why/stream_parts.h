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

/// A part of the network that writes to the residual stream.
struct StreamSource {
  enum class Kind : std::uint8_t { words, positions, constants, attention, cross_attention, feed_forward, others };
  Kind kind = Kind::words;
  Index layer = -1;  ///< of what a block writes
  Index head = -1;   ///< head whose attention is a source of its own; -1: all heads together

  /// "words", "positions", "constants", "attention 0", "cross-attention 0", "feed-forward 0", "L0H3"
  [[nodiscard]] std::string name() const;
  bool operator==(const StreamSource&) const = default;
};

constexpr Index constants_source = 2;  ///< number of the source of biases, token types and shifts of norms

/// Normalises a sum as a norm does, part by part: every part is centred (not by RMS norms), divided by the
/// standard deviation that the sum has in that row, and scaled; the shift goes to one part. The parts then
/// add up to norm(sum).
/// @param parts     (parts * count, d)  row r of part s is row s * count + r
/// @param constant  the part that the shift is added to
void hold_norm(const Norm& norm, Index count, Index constant, Matrix32& parts);

/// Queries of the parts of states. They add up to those of the whole state: the bias goes to the constants, and norms on the
/// way, of compressed states and of queries, are held.
/// @param parts  (parts * count, d_model), of which part `constants_source` is there
/// @param head   the only head whose queries are wanted; below 0: all
/// @returns (parts * count, heads * d_head)
Matrix32 query_parts(const Matrix32& parts, const AttentionWeights& weights, Index count, const BlockSpec& block,
                     Index head = -1);
/// The same of keys, (parts * count, kv_heads * d_head).
/// @param head  key head
Matrix32 key_parts(const Matrix32& parts, const AttentionWeights& weights, Index count, const BlockSpec& block,
                   Index head = -1);

/// The residual stream at some places of one document as the sum of what wrote it: words, positions,
/// constants (biases, token types), attention and feed-forward of each block. Norms on the way are held at
/// the values they really had, so the parts always add up to the stream.
///
/// Source: norms held as by Elhage et al. 2021 ("A mathematical framework for transformer circuits") and Kobayashi
/// et al. 2021, arXiv:2109.07152.
class StreamParts {
 public:
  /// What enters the first block.
  /// @param first, count  the places that are followed
  /// @param by_head       whether attention is told apart by head; then add_heads() comes before every add() of
  ///                      attention
  /// @param apart         the only sources beside words, positions and constants, all others being one source, "others";
  ///                      empty: all are told apart
  /// @throws ShapeError as word_rows()
  StreamParts(const Stack& stack, const TokenSequence& tokens, Index first, Index count, bool by_head,
              std::vector<StreamSource> apart = {});

  /// What a sublayer writes, in the order of the model.
  void add(const StreamAddition& addition);
  /// What each head writes of the next add().
  /// @param output  W_O
  void add_heads(const LayerHeads& heads, const Linear& output);

  /// What enters the projections of a layer's attention, all blocks before it added.
  /// @returns (sources * count, d_model)
  [[nodiscard]] Matrix32 entering(Index layer) const;

  [[nodiscard]] const std::vector<StreamSource>& sources() const { return sources_; }

 private:
  void append(const Matrix32& parts, const std::vector<StreamSource>& sources);

  const Stack& stack_;
  Index first_, count_;
  bool by_head_;
  std::vector<StreamSource> apart_;  // empty: all
  std::vector<StreamSource> sources_;
  Matrix32 parts_;  // (sources * count, d_model)
  Matrix32 heads_;  // (heads * count, d_model)  of the attention that is added next
};

/// Which source wrote what of the keys that read positions: equation (3) of score_sources.cpp.
struct KeySources {
  std::vector<StreamSource> sources;  ///< of the last layer; a layer reads those written before it
  Matrix shares;                      ///< (rows, sources)  of a head's position kernel; rows add up to 1
};

}  // namespace headwave
