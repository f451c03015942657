#pragma once

#include <span>
#include <vector>

#include "../attention/document.h"
#include "../attention/probe.h"
#include "model.h"

namespace headwave {

struct PassOptions {
  bool final_states = false;  ///< compute what follows the last attention, and return it; costs about one layer
};

/// Runs a model on one document while probes watch every layer's attention.
///
/// A document with token ids passes through the embeddings and every block; in an encoder-decoder its target
/// then passes through the decoder, whose cross-attention reads the encoder's final states. For a document
/// with stored layers, only the attention of these layers is computed: from stored queries and keys, or from
/// stored states and the model's weights; stored attention weights are shown as they are. Everything is
/// float32. There is no padding: every document has its own length. A probe sees as a layer's input what
/// enters its query projection: the output of the block before in post-norm models, the output of the layer's
/// own norm in pre-norm models.
///
/// Source: Vaswani et al. 2017, section 3; Devlin et al. 2019; Radford et al. 2019; Touvron et al. 2023.
/// @param document  T tokens, T <= model.longest, as its target
/// @returns (T, d_model) the output of the last block, after the final norm where there is one, if asked for;
///          of the decoder in an encoder-decoder; otherwise empty
/// @throws ShapeError if the document is longer than the model's positions or fixed keys, an id lies outside
///         the vocabulary, a target is missing or not expected, or stored arrays do not have the model's
///         width or heads or are of a layer that it has not; Error as show_attention()
Matrix32 model_pass(const Model& model, const Document& document, std::span<Probe* const> probes,
                    const PassOptions& options = {});

/// Runs a model of one stack on one document, and keeps every state between blocks.
/// @returns [layer] (T, d_model) what enters each block, before its norms; and last what leaves the last one, before the final norm
/// @throws as model_pass()
std::vector<Matrix32> block_states(const Model& model, const Document& document, std::span<Probe* const> probes);

/// The rest of a pass after a layer's attention, with another output of that attention.
/// @param x      (T, d_model) what enters the layer's block: block_states()[layer]
/// @param added  (T, d_model) what its attention adds, as StreamAddition has it
/// @returns (T, d_model) final states
/// @throws as LayerStore::block()
Matrix32 resumed_pass(const Model& model, Index layer, Matrix32 x, const Matrix32& added);

/// A document that passes through a model, and the probes that watch it.
struct Passing {
  const Document* document = nullptr;
  std::span<Probe* const> probes;
};

/// The same of several documents side by side, layer by layer: if weights are not in memory (Stack::store),
/// each layer is read once for all of them. The result of a document does not depend on the documents beside
/// it.
/// @param threads  how many documents are computed at a time
/// @returns what model_pass() returns of each
/// @throws as model_pass(), of several documents that fail in a layer of the first; as LayerStore::block()
std::vector<Matrix32> model_passes(const Model& model, std::span<const Passing> documents, int threads,
                                   const PassOptions& options = {});

/// The word embeddings, before positions are added, of the tokens whose queries a kind of attention computes:
/// (T, d_model).
/// @throws ShapeError if an id lies outside the vocabulary
Matrix32 word_sequence(const Model& model, const Document& document, AttentionKind kind = AttentionKind::self);

}  // namespace headwave
