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

/// Upper limit on the number of layers. A model with more layers is refused.
constexpr Index most_layers = 1024;

/// Reads the weights of a stack that does not fit into memory, one layer at a time. Callers share a layer,
/// which is released when no caller holds it. The last layer that queries_and_keys() read stays in memory
/// until it reads another, since callers ask once per head. May be called from several threads.
class LayerStore {
 public:
  LayerStore() = default;
  LayerStore(const LayerStore&) = delete;
  LayerStore& operator=(const LayerStore&) = delete;
  virtual ~LayerStore() = default;

  /// All weights of a layer.
  /// @throws IoError or FormatError if the layer cannot be read, or contains NaN or infinity
  [[nodiscard]] virtual std::shared_ptr<const Block> block(Index layer) const = 0;
  /// A layer's query and key projections and the norms before them. The block's other parts may be empty.
  /// @throws as block()
  [[nodiscard]] virtual std::shared_ptr<const Block> queries_and_keys(Index layer) const = 0;
};

/// Layers of a stack whose window, chunks or position term differ from the rest of the stack, for example
/// local layers among global layers, or layers without rotation.
struct OtherLayers {
  std::vector<Index> layers;     ///< layer numbers, ascending; empty: all layers are alike
  Index window = 0, chunk = 0;   ///< used in place of BlockSpec's window and chunk
  QueryTemperature temperature;  ///< scales the queries of these layers only
  PositionTerm position_term;    ///< used in place of the stack's position term
};

/// A tower of blocks: an encoder or a decoder.
struct Stack {
  BlockSpec block;
  Embedding embedding;
  /// One block per layer. If there is a `store`, the blocks hold only norms. Their other weights are views
  /// with a shape and null data().
  std::vector<Block> blocks;
  Norm final_norm;             ///< norm after the last block; empty in post-norm models
  PositionTerm position_term;  ///< how attention uses relative positions; may be empty
  OtherLayers others;
  std::shared_ptr<const LayerStore> store;  ///< reads weights layer by layer; null: `blocks` holds them all

  /// The weights of a layer, from memory or from the store. Hold the pointer for as long as you use them.
  /// @throws as LayerStore::block()
  [[nodiscard]] std::shared_ptr<const Block> layer(Index layer) const;
  /// The same as layer(), for callers that need only queries and keys.
  [[nodiscard]] std::shared_ptr<const Block> queries_and_keys(Index layer) const;
  [[nodiscard]] Index layers() const { return static_cast<Index>(blocks.size()); }
  /// The settings of one layer, which may be one of `others`.
  [[nodiscard]] Index window(Index layer) const;
  [[nodiscard]] const PositionTerm& term(Index layer) const;
  [[nodiscard]] Index chunk(Index layer) const;
  [[nodiscard]] QueryTemperature temperature(Index layer) const;
  /// The rotation of a layer, or null if it has none.
  [[nodiscard]] const RotaryTerm* rotary(Index layer) const;
  /// The rotation of position_term, or else the rotation of `others`; null if no layer rotates.
  [[nodiscard]] const RotaryTerm* rotary() const;
  /// Whether some layer normalises its queries or keys, so that W_Q W_K^T alone does not determine scores.
  [[nodiscard]] bool normalises_heads() const;
  /// Whether queries or keys are projected from a Latent, so that W_Q W_K^T does not act on states.
  [[nodiscard]] bool compresses() const;
  /// Whether heads have learned sinks, so that rows of attention weights sum to less than 1.
  [[nodiscard]] bool has_sinks() const;
  /// Width of the residual stream.
  [[nodiscard]] Index d_model() const {
    if (!embedding.projection.empty()) return embedding.projection.d_out();
    if (!embedding.words.empty() || blocks.empty()) return embedding.words.cols();
    return blocks.back().self.d_in();
  }
};

/// Predicts tokens from final states; see logits() for the equation. Each part is optional except `words`.
struct PredictionHead {
  Linear transform;  ///< applied to states first, in masked language models
  Activation activation = Activation::gelu;
  Norm transform_norm;
  float state_scale = 1;  ///< factor of states: 1/sqrt(d_model) in T5 with tied words
  Linear words;           ///< (vocabulary, d_model)  often equal to the word embeddings
  float soft_cap = 0;     ///< logits s become cap tanh(s / cap); 0: no cap
};

/// A model: descriptions of its parts, and views of its weights.
struct Model {
  std::string family;            ///< "bert", "gpt2", "llama", ...
  Stack stack;                   ///< the encoder, or the decoder of a decoder-only model
  std::optional<Stack> decoder;  ///< the decoder of an encoder-decoder; else unset
  Index longest = 0;             ///< length of the longest allowed document or target, in tokens; 0: no limit
  /// Reads the prediction head, which few analyses need and which may be as large as all layers. Null: the
  /// model has no prediction head.
  std::function<std::shared_ptr<const PredictionHead>()> read_prediction;
  std::shared_ptr<const void> storage;  ///< keeps the memory behind the views alive
  /// Frees the memory of weights that are mapped from a file. The next access reads them from the file again.
  /// Null: no weights are mapped.
  std::function<void()> let_go;

  /// Whether weights are read layer by layer. Documents then pass through the model side by side.
  [[nodiscard]] bool by_layer() const { return stack.store != nullptr; }
  /// The kinds of attention in the model: one kind, or self, causal and cross in an encoder-decoder.
  [[nodiscard]] std::vector<AttentionKind> kinds() const;
  /// The stack that has a kind of attention: cross-attention belongs to the decoder.
  [[nodiscard]] const Stack& stack_of(AttentionKind kind) const;
};

/// One head's query and key projections in double. They act on row vectors: q = x query + query_bias.
struct HeadWeights {
  Matrix query;       ///< (d_model, d_head)
  Matrix key;         ///< (d_model, d_head)  of the key head that this query head uses
  Vector query_bias;  ///< (d_head)  zero if the model has none
};

/// Copies a head's weights out of a layer's projections. The bias of keys and the norms of queries and keys
/// are left out. not_bilinear() tells whether there are norms.
/// @param head  query head. With grouped-query attention it uses key head floor(head / (heads / kv_heads))
/// @throws ShapeError if there is no such head
HeadWeights head_weights(const AttentionWeights& attention, const BlockSpec& block, Index head);

/// Says why scores are not scale x_i W_Q W_K^T x_j^T plus a position term: queries or keys are normalised,
/// projected from compressed states, compared with relative positions or scaled by their position, or scores
/// are capped. Else empty.
std::string not_bilinear(const Stack& stack);

}  // namespace headwave
