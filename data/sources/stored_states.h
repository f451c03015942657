#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "../../core/model/model.h"
#include "../../core/model/source.h"
#include "array_map.h"
#include "arrays_place.h"

namespace headwave {

struct StoredStatesOptions {
  Index heads = 0;             ///< how many; 0: as the model or the file's attribute `num_heads` says
  Index documents = 0;         ///< at most this many; 0: all
  std::optional<Index> layer;  ///< that the states enter, where nothing in the file says it; else 0
  std::string
      dataset;  ///< where the states are, or finished attention, `{layer}` for the layer's number; empty: by the
                ///< usual names
  std::vector<ArrayAxis> axes;     ///< of that dataset; empty: as their number says
  std::filesystem::path map = {};  ///< instead of the dataset: a file that says what the arrays are (array_map.h)
  bool apply_norm = false;         ///< the states are raw, from before the norm of a pre-norm layer
  bool any_states = false;         ///< also such as no norm of the model gives: somebody changed them on purpose
};

/// Documents as stored, and the model that makes queries and keys of them (or, where those are stored, only says how
/// many heads there are).
struct StoredInput {
  Model model;
  std::unique_ptr<Source> source;
};

/// Stored hidden states, queries and keys as documents, from HDF5, .npy, .npz and safetensors files, or a folder: of .npy
/// files, or with a file for each document. docs/stored-states.md says by which names they are found; L is the layer, and
/// (documents, T, width) may also be (T, width) for a single document:
///
///     hidden_states/layer_L            (documents, T, d_model)         what enters L's projections
///     queries/layer_L, keys/layer_L    (documents, T, heads * d_head)  with their bias
///     attentions/layer_L               (documents, heads, T, T)        finished: used where none of these is there
///     weights/layer_L/query, key       (d_model, heads * d_head)       y = x W + b; layer_L_query.npy in a folder
///     weights/layer_L/query_bias, ...  (heads * d_head)
///     tokens                           (T) or (documents, T) text of the tokens
///     ids, special                     (T) or (documents, T) token ids; 1: a special token
///     document_name                    (documents)
///
/// Numbers beside them: num_heads, head_dim, causal (0 or 1), score_scale and window (keys further back are masked);
/// without them attention goes in both directions and scores are multiplied by 1/sqrt(head_dim). Where `turned` is 1
/// queries and keys have been turned by rotary positions. Queries and keys that are stored are used as they are;
/// otherwise weights make them from the states. Finished attention is read row by row while it is looked at; where nobody
/// says whether it is causal its own first rows do.
/// @param at  a file, a folder, or arrays
/// @throws IoError, FormatError if nothing of this is found, or what is found does not fit together; ShapeError if the
///         number of heads is neither stored nor given, or does not divide the width
StoredInput stored_states(const ArraysPlace& at, const StoredStatesOptions& options = {});

/// The same with the weights of a model from elsewhere; weights in the file are not used. States that follow the last
/// layer, and enter none, are left out.
///
/// What enters the projections is the output of a norm: in pre-norm models of the layer's own, in post-norm models of the
/// layer before, or of the embedding. States that are not (see share_from_norm), so those of another layer, are refused
/// when their document is read, but for `any_states`; with `apply_norm` those of a pre-norm model are raw, and normalised.
/// @throws ShapeError also if the states do not have the model's width, attention not its heads, or the attributes
///         contradict the model
StoredInput stored_states(const ArraysPlace& at, Model model, const StoredStatesOptions& options = {});

}  // namespace headwave
