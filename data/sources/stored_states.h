#pragma once

#include <concepts>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "../../core/model/model.h"
#include "../../core/model/source.h"
#include "named_arrays.h"

namespace headwave {

/// The title of files that headwave.capture writes.
inline constexpr const char* stored_states_title = "states of a model, stored by headwave";

/// Where arrays are: in a file, in a folder or in memory.
struct ArraysPlace {
  template <class Path>
  requires std::convertible_to<Path, std::filesystem::path> ArraysPlace(Path&& file)  // NOLINT: a path is a place
      : path(std::forward<Path>(file)) {}
  ArraysPlace(std::shared_ptr<const NamedArrays> in_memory)  // NOLINT: so are arrays
      : path(in_memory->path()), arrays(std::move(in_memory)) {}

  std::filesystem::path path;
  std::shared_ptr<const NamedArrays> arrays;  ///< null: the arrays are in the file or folder
};

struct StoredStatesOptions : ArraySearch {
  Index heads = 0;          ///< number of heads; 0: as the model or the file's attribute `num_heads` says
  Index documents = 0;      ///< read only this many, from the first; an error if fewer are stored; 0: all
  bool apply_norm = false;  ///< whether states are raw: taken before the norm of a pre-norm layer
  bool any_states = false;  ///< whether to accept states that do not look normalised
};

/// Stored documents, and the model that computes queries and keys from their states. If queries and keys are
/// stored, the model only says how many heads there are.
struct StoredInput {
  Model model;
  std::unique_ptr<Source> source;
};

/// Reads hidden states, queries and keys, or attention as documents: from an HDF5, .npy, .npz or safetensors
/// file, a folder of .npy files, or memory. docs/inputs.md lists the names of arrays. L is the layer; a
/// single document may lack the axis of documents:
///
///     hidden_states/layer_L            (documents, T, d_model)         what enters the projections of layer L
///     queries/layer_L, keys/layer_L    (documents, T, heads * d_head)  with their bias
///     attentions/layer_L               (documents, heads, T, T)        finished attention, used if the others are missing
///     weights/layer_L/query, key       (d_model, heads * d_head)       y = x W + b; layer_L_query.npy in a folder
///     weights/layer_L/query_bias, ...  (heads * d_head)
///     tokens                           (T) or (documents, T)           tokens as strings
///     ids, special                     (T) or (documents, T)           token ids; 1: a special token
///     document_name                    (documents)
///
/// Numbers stored with the arrays are num_heads, head_dim, causal (0 or 1), turned (1: queries and keys are
/// already rotated), score_scale and window (keys with |i - j| >= window are masked). By default attention is
/// not causal and scores are multiplied by 1/sqrt(head_dim). Stored queries and keys are used as they are. If
/// there are none, they are computed from the states by the weights. Finished attention is read row by row.
/// If the file does not say whether it is causal, this is decided by its first rows (looks_only_back()).
/// Equal documents count once.
/// @throws IoError if a file cannot be read; FormatError if none of these arrays is found, or they do not fit
///         together; ShapeError if the number of heads is neither stored nor given, or does not divide the
///         width
StoredInput stored_states(const ArraysPlace& at, const StoredStatesOptions& options = {});

/// Reads documents in the same way, but queries and keys are computed by a given model. Weights in the file
/// are ignored. States after the last layer are omitted. States of an encoder-decoder must be the encoder's.
///
/// The states that enter the projections are the output of a norm: in pre-norm models the layer's own norm,
/// in post-norm models the norm of the layer before or of the embedding. States that do not look like this
/// (share_from_norm()), such as states of another layer, are refused when their document is read, unless
/// `any_states` is set. With `apply_norm`, the states of a pre-norm model are raw and are normalised.
/// @throws ShapeError also if the states do not have the model's width, attention does not have the model's
///         number of heads, or the attributes contradict the model
StoredInput stored_states(const ArraysPlace& at, Model model, const StoredStatesOptions& options = {});

/// Layers as a text: "0, 3-5" for the ascending layers 0, 3, 4, 5.
std::string layers_text(const std::vector<Index>& layers);

}  // namespace headwave
