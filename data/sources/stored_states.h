#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "../../core/model/model.h"
#include "../../core/model/source.h"

namespace headwave {

struct StoredStatesOptions {
  Index heads = 0;      ///< how many; 0: as the model or the file's attribute `num_heads` says
  Index documents = 0;  ///< at most this many; 0: all
  Index layer = 0;      ///< of a single .npy array: the layer whose projections the states enter
};

/// Documents as stored, and the model that makes queries and keys of them (or, where those are stored, only says how
/// many heads there are).
struct StoredInput {
  Model model;
  std::unique_ptr<Source> source;
};

/// Stored hidden states, queries and keys as documents. What is looked for, in an HDF5 file by dataset, in a folder of
/// arrays by file name; L is the layer, (documents, T, width) may also be (T, width) for a single document:
///
///     hidden_states/layer_L            hidden_states_layer_L.npy  (documents, T, d_model) what enters L's projections
///     queries/layer_L, keys/layer_L    queries_layer_L.npy, ...   (documents, T, heads * d_head) with their bias
///     weights/layer_L/query, key       layer_L_query.npy, ...     (d_model, heads * d_head), y = x W + b
///     weights/layer_L/query_bias, ...  layer_L_query_bias.npy     (heads * d_head)
///     tokens                                                      (T) or (documents, T) text of the tokens
///     ids, special                                                (T) or (documents, T) token ids; 1: a special token
///     document_name                                               (documents)
///
/// Attributes of the file's root: num_heads, head_dim, causal (0 or 1), score_scale and window (keys further back are
/// masked); without them attention goes in both directions and scores are multiplied by 1/sqrt(head_dim). Where `turned`
/// is 1 queries and keys have been turned by rotary positions. A single .npy file holds the states of one layer. Queries
/// and keys that are stored are used as they are; otherwise weights make them from the states.
/// @param path   an HDF5 file, a .npy file, or a folder of .npy files
/// @throws IoError, FormatError if nothing of this is found, or what is found does not fit together; ShapeError if the
///         number of heads is neither stored nor given, or does not divide the width
StoredInput stored_states(const std::filesystem::path& path, const StoredStatesOptions& options = {});

/// The same with the weights of a model from elsewhere; weights in the file are not used.
/// @throws ShapeError also if the states do not have the model's width, or the attributes contradict the model
StoredInput stored_states(const std::filesystem::path& path, Model model, const StoredStatesOptions& options = {});

}  // namespace headwave
