#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "../attention/block.h"
#include "../attention/document.h"
#include "../attention/position_term.h"
#include "../numbers/matrix.h"
#include "frame_stem.h"
#include "layer_store.h"
#include "patch_grid.h"
#include "word_table.h"

namespace headwave {

class RotaryTerm;

/// More layers than any model has: where searches for further ones end.
constexpr Index most_layers = 1024;

/// What tokens become before the first block: projection of norm(scale * word + position + token type 0), each where it
/// exists. A model of images has no words: a patch stands for one as a linear map of its pixels; nor has one of sound, where
/// what is made of a few frames stands for one.
struct Embedding {
  WordTable words;            ///< (vocabulary, d_embedding)  d_model wide where there is no projection
  float word_scale = 1;       ///< sqrt(d_model) in the original Transformer
  MatrixView32 positions;     ///< (longest document, d_embedding) row n is added to token n; empty: no position table
  MatrixView32 token_types;   ///< (types, d_embedding); or empty
  Norm norm;                  ///< or empty
  Linear projection = {};     ///< to d_model: of factorised embeddings (ALBERT, ELECTRA); or empty
  Linear patches = {};        ///< of images: a patch's pixels to d_model; or empty
  MatrixView32 opening = {};  ///< of images: (first, d_model) the tokens before the patches, by id; or empty
  FrameStem frames = {};      ///< of sound: what makes positions from frames; or empty

  /// Whether tokens are looked up in `words`.
  [[nodiscard]] bool reads_words() const { return patches.empty() && frames.empty(); }
};

/// The layers of a stack that look elsewhere than the rest: local ones among global ones, or those that nothing turns.
struct OtherLayers {
  std::vector<Index> layers;   ///< ascending; empty: all layers are alike
  Index window = 0;            ///< in place of the block's
  PositionTerm position_term;  ///< in place of the stack's
};

/// A tower of blocks: an encoder or a decoder.
struct Stack {
  BlockSpec block;
  Embedding embedding;
  /// One per layer: its weights, or, where a store has them, its norms and the shapes of the rest, whose data() is null.
  std::vector<Block> blocks;
  Norm final_norm;             ///< after the last block; empty in post-norm models
  PositionTerm position_term;  ///< what attention itself knows of positions
  OtherLayers others;
  std::shared_ptr<const LayerStore> store;  ///< of weights that are read layer by layer; null: `blocks` are whole

  /// The weights of a layer, from where they are: whoever computes with them holds this as long as it does.
  /// @throws as LayerStore::block()
  [[nodiscard]] std::shared_ptr<const Block> layer(Index layer) const;
  /// The same where queries and keys are all that is needed of it.
  [[nodiscard]] std::shared_ptr<const Block> queries_and_keys(Index layer) const;
  [[nodiscard]] Index layers() const { return static_cast<Index>(blocks.size()); }
  /// Of one layer: how far it looks, and what it knows of positions.
  [[nodiscard]] Index window(Index layer) const;
  [[nodiscard]] const PositionTerm& term(Index layer) const;
  /// The position term of a layer where it turns queries and keys; else null.
  [[nodiscard]] const RotaryTerm* rotary(Index layer) const;
  /// The same of the stack, or of its other layers where only those turn.
  [[nodiscard]] const RotaryTerm* rotary() const;
  /// Whether queries or keys of some layer are normalised: then no W_Q W_K^T says what they match.
  [[nodiscard]] bool normalises_heads() const;
  /// Width of the residual stream.
  [[nodiscard]] Index d_model() const {
    if (!embedding.projection.empty()) return embedding.projection.d_out();
    if (!embedding.patches.empty()) return embedding.patches.d_out();
    if (!embedding.frames.empty()) return embedding.frames.d_model();
    if (!embedding.words.empty() || blocks.empty()) return embedding.words.cols();
    return blocks.back().self.query.d_in();
  }
};

/// What predicts a token from a final state: cap(words . norm(activation(transform x)) + bias), each where it exists.
struct PredictionHead {
  Linear transform;  ///< of masked-language models; or empty
  Activation activation = Activation::gelu;
  Norm transform_norm;
  float state_scale = 1;  ///< T5 with tied words: 1/sqrt(d_model)
  Linear words;  ///< (vocabulary, d_model): often the word embeddings again; empty: the checkpoint predicts nothing
  float soft_cap = 0;  ///< logits s become cap tanh(s / cap); 0: they stay
};

/// A model as data: descriptions, and views of its weights.
struct Model {
  std::string family;            ///< "bert", "gpt2", "llama", ...
  Stack stack;                   ///< the encoder, or the decoder of a decoder-only model
  std::optional<Stack> decoder;  ///< of an encoder-decoder
  PredictionHead head;           ///< or, where weights are read layer by layer, its shapes: prediction() has it whole
  std::function<std::shared_ptr<const PredictionHead>()> read_head;  ///< null: `head` is whole
  PatchGrid patches;                                                 ///< of a model of images; or empty
  std::vector<Linear> classes;  ///< (labels, d_model) of an image classifier, one for each opening token that is read
  Index longest = 0;            ///< longest document the positions allow, in tokens; 0: any
  Index longest_target = 0;     ///< the same of an encoder-decoder's target
  std::shared_ptr<const void> storage;  ///< keeps the memory behind the views alive

  [[nodiscard]] bool reads_images() const { return !patches.empty(); }
  [[nodiscard]] bool reads_sound() const { return !stack.embedding.frames.empty(); }
  /// Whether weights are read layer by layer: documents then go through it side by side.
  [[nodiscard]] bool by_layer() const { return stack.store != nullptr; }
  /// Reads every layer, and keeps it from now on: documents then go through one by one. What predicts tokens is still read,
  /// and looked at for NaN, when it is asked for.
  /// @throws as LayerStore::block(): the model is then what it was
  void keep_layers();
  /// What predicts tokens, from where it is.
  /// @throws IoError, FormatError if it cannot be read now
  [[nodiscard]] std::shared_ptr<const PredictionHead> prediction() const;
  /// The kinds of attention that happen in it, in order: one, or self, causal and cross in an encoder-decoder.
  [[nodiscard]] std::vector<AttentionKind> kinds() const;
  /// The stack in which a kind of attention happens.
  [[nodiscard]] const Stack& stack_of(AttentionKind kind) const;
};

}  // namespace headwave
