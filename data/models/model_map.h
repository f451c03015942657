#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "../../core/attention/position_term.h"
#include "../../core/model/model.h"

namespace headwave {

/// A name in which every mark, such as "{layer}", is replaced by a text.
std::string with_mark(std::string name, std::string_view mark, std::string_view text);

/// Names of the tensors of one linear map or one norm. "{layer}" stands for the number of the layer, from 0.
/// If the weight is empty the model has no such part; if the bias is empty the part has no bias.
struct TensorNames {
  std::string weight;
  std::string bias;

  [[nodiscard]] bool empty() const { return weight.empty(); }
};

/// Which projections share one tensor: no projections; query, key and value, one after another (qkv); key and
/// value (kv); or the same in blocks, one block for each head (qkv_by_head, kv_by_head). If heads share keys,
/// a block of qkv_by_head holds the queries of one key head, its key and its value.
enum class Fusion { none, qkv, kv, qkv_by_head, kv_by_head };

/// The projections of self-attention or cross-attention. Fused projections have the same name.
struct AttentionNames {
  TensorNames query, key, value, output;
  Fusion fusion = Fusion::none;

  [[nodiscard]] bool empty() const { return query.empty(); }
};

/// How a stack represents positions: not at all, by a stored table, by sinusoids, or by a position term of
/// attention. Disentangled attention may have a table in addition.
enum class PositionKind { none, table, sinusoids, rotary, linear_bias, buckets, disentangled };

/// Vectors of relative positions, which each layer projects (core/attention/position_term.h).
struct DisentangledMap {
  std::string vectors;       ///< (2 s, d_model), s rows to each side
  TensorNames norm;          ///< norm of the vectors; or empty
  DisentangledOptions rows;  ///< which vector belongs to an offset
};

/// The scales of norms of queries and keys: d_head scales that all heads share, d_head own scales of each
/// head, or scales of one norm over the whole width.
enum class HeadNorm { shared, own, whole };

/// The names that config.json has for rotary settings, and defaults for missing settings.
struct RopeKeys {
  double base = 10000;
  std::string base_key = "rope_theta";
  std::string group;     ///< object inside rope_parameters, if layers differ; empty: rope_parameters itself
  bool scaled = true;    ///< whether rope_scaling applies to these layers
  bool partial = false;  ///< whether only a share of the channels may rotate
  std::string share_key = "partial_rotary_factor";
  double share = 1;  ///< default share of the channels that rotate
  Index width = 0;   ///< number of channels of which the share is taken; 0: channels of a head
};

struct PositionMap {
  PositionKind kind = PositionKind::none;
  std::string table;    ///< tensor: for kind table the table, for kind buckets the biases (buckets, heads)
  Index rows = 0;       ///< rows of the table (0: there is only a term), or number of buckets
  std::string biases;   ///< for kind table: tensor of additional biases of scores (buckets, heads); or empty
  Index buckets = 0;    ///< for kind table: number of buckets of `biases`
  Index first_row = 0;  ///< for kind table: the row for token 0
  SinusoidOptions sinusoids;
  RotaryOptions rotary;
  std::optional<RopeKeys> rope;  ///< set while a map is read, if `rotary` follows from config.json
  Index farthest = 128;          ///< distances from here on share the last bucket
  DisentangledMap disentangled;

  /// Whether rows of a table are added to the words.
  [[nodiscard]] bool has_table() const {
    return kind == PositionKind::table || (kind == PositionKind::disentangled && rows > 0);
  }
};

/// Compressed states from which queries, keys and values are projected (core/attention/block.h: Latent).
struct LatentMap {
  Index query_rank = 0;       ///< channels of the compressed state for queries; 0: queries use the uncompressed state
  Index key_rank = 0;         ///< channels of the compressed state for keys and values; 0: nothing is compressed
  Index shared_channels = 0;  ///< last channels of keys, shared by all heads; in `key` after key_rank
  float norm_eps = 1e-6F;
  TensorNames query, query_norm;  ///< (query_rank, d_model), (query_rank)
  TensorNames key, key_norm;      ///< (key_rank + shared_channels, d_model), (key_rank)

  [[nodiscard]] bool empty() const { return key_rank == 0; }
};

/// Experts (core/attention/block.h: Mixture). In names, "{expert}" stands for the number of the expert, from
/// 0. Other names are one tensor whose first axis is the expert, or NAME_blocks and NAME_scales (mxfp4.h).
struct ExpertsMap {
  Index count = 0;           ///< number of experts; 0: there are no experts
  Index d_feed_forward = 0;  ///< width of one expert; 0: as in the stack
  Index d_shared = 0;        ///< width of the shared expert; 0: no shared expert
  std::vector<Index> dense;  ///< layers without experts, ascending
  bool in_out = false;       ///< stored as (in, out)
  bool alternating = false;  ///< whether rows of gate and widen alternate, gate first, if both have one name
  TensorNames router;        ///< (count, d_model)
  std::string correction;    ///< (count); or empty
  TensorNames widen, gate, narrow;
  TensorNames shared_widen, shared_gate, shared_narrow;
  TensorNames shared_weight;  ///< (1, d_model); or empty

  [[nodiscard]] bool in_layer(Index layer) const {
    return count > 0 && !std::binary_search(dense.begin(), dense.end(), layer);
  }
};

/// Layers whose window or positions differ from the rest (core/model/model.h: OtherLayers).
struct OthersMap {
  std::vector<Index> layers;  ///< layer numbers, ascending; empty: all layers are alike
  Index window = 0, chunk = 0;
  bool unit_head_norm = false;
  QueryTemperature temperature;
  PositionMap positions;  ///< kind none, or rotary with as many channels as in the stack
};

/// One stack: its sizes, its options and the names of its tensors.
struct StackMap {
  BlockSpec block;
  Index layers = 0;
  Index vocabulary = 0;
  Index d_model = 0;
  Index d_feed_forward = 0;
  NormKind norm = NormKind::layer;
  float norm_eps = 1e-5F;
  Index d_value = 0;      ///< width of one head's values; 0: d_head
  float norm_offset = 0;  ///< number added to the stored scales of all norms: 1 in Gemma
  bool in_out = false;    ///< whether linear weights are stored as (in, out), as in GPT-2; then they are transposed

  std::string words;
  float word_scale = 1;
  Index refused_word = -1;  ///< id that no document may hold: ESM's mask, which changes how words are scaled
  Index d_embedding = 0;    ///< width of words, positions and token types if they are projected to d_model; else 0
  TensorNames embedding_projection;
  PositionMap positions;
  OthersMap others;
  LatentMap latent;
  ExpertsMap experts;
  std::string token_types;  ///< tensor of token types; or empty
  Index token_type_count = 0;
  TensorNames embedding_norm;

  TensorNames self_norm;
  Index self_norm_from = 0;  ///< layers before this one have no self_norm
  AttentionNames self;
  TensorNames query_norm, key_norm;  ///< names with "{head}" stand for one tensor per head
  HeadNorm head_norm = HeadNorm::shared;
  bool unit_head_norm = false;               ///< whether queries and keys are normalised per head without a scale
  std::string sinks;                         ///< (heads); or empty
  TensorNames position_key, position_query;  ///< projections of disentangled vectors; or empty
  TensorNames self_added_norm;
  TensorNames cross_norm;
  AttentionNames cross;
  TensorNames feed_forward_norm;
  TensorNames widen, gate, narrow;  ///< if gate and widen have one name, they are one tensor, gate first
  TensorNames feed_forward_added_norm;
  TensorNames final_norm;
};

/// The prediction of tokens (core/model/model.h: PredictionHead). If `words` is empty the model has none.
struct PredictionMap {
  TensorNames transform;
  Activation activation = Activation::gelu;
  TensorNames transform_norm;
  float state_scale = 1;
  float soft_cap = 0;
  TensorNames words;
};

/// The description of a model: everything needed to read a checkpoint, except the weights. It follows from
/// config.json for families of Hugging Face models, and from a small TOML file for others (families.h).
struct ModelMap {
  std::string family;  ///< "bert", "gpt2", ...
  std::string reason;  ///< why the model is of this family: "config.json says model_type 'bert'"
  StackMap stack;      ///< the encoder, or the decoder of a decoder-only model
  std::optional<StackMap> decoder;
  PredictionMap prediction;
  Index longest = 0;                 ///< length of the longest allowed document or target, in tokens; 0: no limit
  std::vector<std::string> ignored;  ///< redundant tensors: masks, position numbers; "*" matches any text
};

}  // namespace headwave
