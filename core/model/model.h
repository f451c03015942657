#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "../attention/block.h"
#include "../attention/document.h"
#include "../attention/position_term.h"
#include "../numbers/matrix.h"
#include "embedding.h"

namespace headwave {

/// More layers than any model has: descriptions with more are refused.
constexpr Index most_layers = 1024;

/// The weights of a stack that does not fit into memory. A layer is read when it is asked for, shared by
/// everyone who holds it, and released when nobody does. Queries and keys alone stay until other ones are
/// asked for, since callers ask head by head. May be called from several threads.
class LayerStore {
 public:
  LayerStore() = default;
  LayerStore(const LayerStore&) = delete;
  LayerStore& operator=(const LayerStore&) = delete;
  virtual ~LayerStore() = default;

  /// All of a layer.
  /// @throws IoError, FormatError if it cannot be read, or holds NaN or infinity
  [[nodiscard]] virtual std::shared_ptr<const Block> block(Index layer) const = 0;
  /// A layer of which only the query and key projections, and the norms before them, must be there.
  /// @throws as block()
  [[nodiscard]] virtual std::shared_ptr<const Block> queries_and_keys(Index layer) const = 0;
};

/// The layers of a stack with another window or other positions than the rest: local layers among global
/// ones, or layers without rotation.
struct OtherLayers {
  std::vector<Index> layers;     ///< ascending; empty: all layers are alike
  Index window = 0, chunk = 0;   ///< in place of the block's
  QueryTemperature temperature;  ///< of their queries
  PositionTerm position_term;    ///< in place of the stack's
};

/// A tower of blocks: an encoder or a decoder.
struct Stack {
  BlockSpec block;
  Embedding embedding;
  /// One per layer. With a `store` only the norms are there, and the shapes of the other weights, whose
  /// data() is null.
  std::vector<Block> blocks;
  Norm final_norm;             ///< after the last block; empty in post-norm models
  PositionTerm position_term;  ///< what attention itself knows of positions; may be empty
  OtherLayers others;
  std::shared_ptr<const LayerStore> store;  ///< of weights that are read layer by layer; null: `blocks` are whole

  /// The weights of a layer, from memory or from the store. Hold the pointer for as long as you use them.
  /// @throws as LayerStore::block()
  [[nodiscard]] std::shared_ptr<const Block> layer(Index layer) const;
  /// The same if only queries and keys are needed.
  [[nodiscard]] std::shared_ptr<const Block> queries_and_keys(Index layer) const;
  [[nodiscard]] Index layers() const { return static_cast<Index>(blocks.size()); }
  /// The window and the position term of one layer.
  [[nodiscard]] Index window(Index layer) const;
  [[nodiscard]] const PositionTerm& term(Index layer) const;
  /// The chunks of one layer, and what its queries are multiplied by.
  [[nodiscard]] Index chunk(Index layer) const;
  [[nodiscard]] QueryTemperature temperature(Index layer) const;
  /// The rotation of a layer; null: it has none.
  [[nodiscard]] const RotaryTerm* rotary(Index layer) const;
  /// A rotation that some layers use: that of position_term, or else that of `others`; null: no layer rotates.
  [[nodiscard]] const RotaryTerm* rotary() const;
  /// Whether some layer normalises its queries or keys, so that W_Q W_K^T does not say what they match.
  [[nodiscard]] bool normalises_heads() const;
  /// Whether queries or keys are projected from a compressed state (Latent): W_Q W_K^T does not act on states then.
  [[nodiscard]] bool compresses() const;
  /// Whether heads have sinks, so that rows of weights sum to less than 1.
  [[nodiscard]] bool has_sinks() const;
  /// Width of the residual stream.
  [[nodiscard]] Index d_model() const {
    if (!embedding.projection.empty()) return embedding.projection.d_out();
    if (!embedding.words.empty() || blocks.empty()) return embedding.words.cols();
    return blocks.back().self.d_in();
  }
};

/// What predicts tokens from final states: cap(words . norm(activation(transform x)) + bias), each part optional.
struct PredictionHead {
  Linear transform;  ///< of masked-language models; or empty
  Activation activation = Activation::gelu;
  Norm transform_norm;
  float state_scale = 1;  ///< T5 with tied words: 1/sqrt(d_model)
  Linear words;           ///< (vocabulary, d_model): often the word embeddings again
  float soft_cap = 0;     ///< logits s become cap tanh(s / cap); 0: they stay
};

/// A model as data: descriptions, and views of its weights.
struct Model {
  std::string family;            ///< "bert", "gpt2", "llama", ...
  Stack stack;                   ///< the encoder, or the decoder of a decoder-only model
  std::optional<Stack> decoder;  ///< of an encoder-decoder
  Index longest = 0;             ///< longest document, or target, the positions allow, in tokens; 0: any
  /// Reads what predicts tokens, since few analyses need it and it may be as large as all layers. Null: nothing does.
  std::function<std::shared_ptr<const PredictionHead>()> read_prediction;
  std::shared_ptr<const void> storage;  ///< keeps the memory behind the views alive
  /// Gives the memory of weights that lie in a file back to the system; they are read again when somebody looks at them.
  /// Null: there is nothing to give.
  std::function<void()> let_go;

  /// Whether weights are read layer by layer. Documents then pass through the model side by side.
  [[nodiscard]] bool by_layer() const { return stack.store != nullptr; }
  /// The kinds of attention in the model, in order: one, or self, causal and cross in an encoder-decoder.
  [[nodiscard]] std::vector<AttentionKind> kinds() const;
  /// The stack that has a kind of attention.
  [[nodiscard]] const Stack& stack_of(AttentionKind kind) const;
};

/// One head's query and key projections in double, as they act on row vectors: q = x query + query_bias.
struct HeadWeights {
  Matrix query;       ///< (d_model, d_head)
  Matrix key;         ///< (d_model, d_head), of the key head that this query head reads
  Vector query_bias;  ///< (d_head); zero where the model has none
};

/// Cuts a head out of a layer's projections.
/// @param head  query head; where key heads are shared (grouped-query attention: GQA, MQA) it reads key head
///              floor(head / (heads / kv_heads))
/// @returns what projects; norms of queries and keys are left out: not_bilinear() says where there are any
/// @throws ShapeError if there is no such head
HeadWeights head_weights(const AttentionWeights& attention, const BlockSpec& block, Index head);

/// Why scores are not scale x_i W_Q W_K^T x_j^T plus a position term: queries or keys are normalised, or projected from
/// compressed states, they are compared with relative positions, or scores are capped. Empty: they are.
std::string not_bilinear(const Stack& stack);

}  // namespace headwave
