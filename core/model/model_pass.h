#pragma once

#include <span>
#include <vector>

#include "../attention/document.h"
#include "../attention/probe.h"
#include "model.h"

namespace headwave {

struct PassOptions {
  bool final_states = false;  ///< compute and return final states; this costs about one more layer
};

/// Runs a model on one document while probes watch every layer's attention.
///
/// A document with token ids passes through the embeddings and every block. In an encoder-decoder its target
/// then passes through the decoder, whose cross-attention reads the encoder's final states. For a document
/// with stored layers, only the attention of these layers is computed: from stored queries and keys, or from
/// stored states and the model's weights. Stored attention weights are shown to the probes as they are.
/// Everything is computed in float32. There is no padding, since every document has its own length. The layer
/// input that probes see is what the query projection reads: in post-norm models the output of the block
/// before, in pre-norm models the output of the layer's own norm.
///
/// Source: Vaswani et al. 2017, section 3; Devlin et al. 2019; Radford et al. 2019; Touvron et al. 2023.
/// @param document  has T tokens, T <= model.longest unless this is 0; the same holds for its target
/// @returns (T, d_model) final states: the output of the last block (of the decoder in an encoder-decoder),
///         after the final norm if there is one. Empty for stored layers, or without
///         PassOptions::final_states
/// @throws ShapeError if the document is longer than the model's positions, an id lies outside the
///         vocabulary, a target is missing or not expected, or stored arrays do not fit the model's width,
///         heads or layers; any Error that show_attention() throws
Matrix32 model_pass(const Model& model, const Document& document, std::span<Probe* const> probes,
                    const PassOptions& options = {});

/// Runs a model of one stack on one document and returns all states between blocks.
/// @returns [layer] (T, d_model) the input of each block before its norms. The last entry is the output of
///         the last block before the final norm
/// @throws as model_pass()
std::vector<Matrix32> block_states(const Model& model, const Document& document, std::span<Probe* const> probes);

/// Runs the rest of a pass, beginning with one layer and a new output of this layer's attention.
/// @param x      (T, d_model) the input of the layer's block: block_states()[layer]
/// @param added  (T, d_model) the new output of the layer's attention, as in StreamAddition
/// @returns (T, d_model) final states
/// @throws as LayerStore::block()
Matrix32 resumed_pass(const Model& model, Index layer, Matrix32 x, const Matrix32& added);

/// A document on its way through a model, and the probes that watch it.
struct Passing {
  const Document* document = nullptr;
  std::span<Probe* const> probes;
};

/// model_pass() of several documents side by side, layer by layer. If weights are not in memory
/// (Stack::store), each layer is read once for all of them. No result depends on the other documents. Either
/// all documents must have stored layers, or none may have them.
/// @param threads  how many documents are computed at a time
/// @returns for each document what model_pass() returns
/// @throws as model_pass(), for the first document if several fail in one layer; as LayerStore::block()
std::vector<Matrix32> model_passes(const Model& model, std::span<const Passing> documents, int threads,
                                   const PassOptions& options = {});

/// The word embeddings of the tokens that are the queries of a kind of attention, before positions are added.
/// @returns (T, d_embedding)
/// @throws ShapeError if an id lies outside the vocabulary
Matrix32 word_sequence(const Model& model, const Document& document, AttentionKind kind = AttentionKind::self);

}  // namespace headwave
