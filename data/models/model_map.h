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

/// Which projections share one tensor: none; query, key and value one after another; key and value; or these
/// in blocks, one for each head (qkv_by_head, kv_by_head). If heads share keys, a block of qkv_by_head holds
/// the queries that read one key head, its key and its value.
enum class Fusion { none, qkv, kv, qkv_by_head, kv_by_head };

/// The projections of one attention. Fused projections have the same name.
struct AttentionNames {
  TensorNames query, key, value, output;
  Fusion fusion = Fusion::none;

  [[nodiscard]] bool empty() const { return query.empty(); }
};

/// How a stack represents positions: not at all, by a stored table, by sinusoids, or by a position term of
/// attention. Disentangled attention may have a table too.
enum class PositionKind { none, table, sinusoids, rotary, linear_bias, buckets, disentangled };

/// Vectors of relative positions, which each layer projects (core/attention/position_term.h).
struct DisentangledMap {
  std::string vectors;       ///< (2 s, d_model), s rows to each side
  TensorNames norm;          ///< of the vectors; or empty
  DisentangledOptions rows;  ///< which vector an offset reads
};

/// The scales of norms of queries and keys: d_head shared by all heads, d_head for each, or the whole width.
enum class HeadNorm { shared, own, whole };

/// How config.json spells rotary positions, and the defaults for missing keys.
struct RopeKeys {
  double base = 10000;
  std::string base_key = "rope_theta";
  std::string group;     ///< object inside rope_parameters, if layers differ; empty: rope_parameters itself
  bool scaled = true;    ///< rope_scaling applies to these layers
  bool partial = false;  ///< only a share of the channels may turn
  std::string share_key = "partial_rotary_factor";
  double share = 1;  ///< of the channels that turn
  Index width = 0;   ///< number of channels that the share refers to; 0: those of a head
};

struct PositionMap {
  PositionKind kind = PositionKind::none;
  std::string table;    ///< of kind table: the tensor; of kind buckets: the biases (buckets, heads)
  Index rows = 0;       ///< of the table (0: none beside a term), or the number of buckets
  std::string biases;   ///< of kind table: biases of scores (buckets, heads) beside it; or empty
  Index buckets = 0;    ///< of kind table: number of buckets of `biases`
  Index first_row = 0;  ///< of kind table: the row that token 0 reads
  SinusoidOptions sinusoids;
  RotaryOptions rotary;
  std::optional<RopeKeys> rope;  ///< set while a map is read: `rotary` follows from config.json
  Index farthest = 128;          ///< distances from here on share the last bucket
  DisentangledMap disentangled;

  /// Whether rows of a table are added to the words.
  [[nodiscard]] bool has_table() const {
    return kind == PositionKind::table || (kind == PositionKind::disentangled && rows > 0);
  }
};

/// Compressed states from which queries, keys and values are projected (core/attention/block.h: Latent).
struct LatentMap {
  Index query_rank = 0;       ///< channels of the state for queries; 0: they are projected from the uncompressed state
  Index key_rank = 0;         ///< channels of the state for keys and values; 0: nothing is compressed
  Index shared_channels = 0;  ///< last channels of d_head, whose keys all heads share; after key_rank in `key`
  float norm_eps = 1e-6F;
  TensorNames query, query_norm;  ///< (query_rank, d_model), (query_rank)
  TensorNames key, key_norm;      ///< (key_rank + shared_channels, d_model), (key_rank)

  [[nodiscard]] bool empty() const { return key_rank == 0; }
};

/// Experts (core/attention/block.h: Mixture). In names, "{expert}" counts from 0. Other names are one tensor
/// whose first axis counts the experts, or NAME_blocks and NAME_scales (mxfp4.h).
struct ExpertsMap {
  Index count = 0;           ///< 0: there are none
  Index d_feed_forward = 0;  ///< of one expert; 0: as the stack's
  Index d_shared = 0;        ///< of the shared expert; 0: there is none
  std::vector<Index> dense;  ///< layers without experts, ascending
  bool in_out = false;       ///< stored as (in, out)
  bool alternating = false;  ///< if gate and widen have one name: rows alternate, the gate first
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
  std::vector<Index> layers;  ///< ascending; empty: all layers are alike
  Index window = 0, chunk = 0;
  bool unit_head_norm = false;
  QueryTemperature temperature;
  PositionMap positions;  ///< none, or rotary with as many channels as the stack's
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
  Index d_value = 0;      ///< of one head's values; 0: d_head
  float norm_offset = 0;  ///< added to every norm's stored scale: 1 in Gemma
  bool in_out = false;    ///< linear weights are stored as (in, out), as in GPT-2, and transposed when read

  std::string words;
  float word_scale = 1;
  Index refused_word = -1;  ///< id that no document may hold: ESM's mask, which changes how words are scaled
  Index d_embedding = 0;    ///< width of words, positions and token types if they are projected to d_model; else 0
  TensorNames embedding_projection;
  PositionMap positions;
  OthersMap others;
  LatentMap latent;
  ExpertsMap experts;
  std::string token_types;  ///< or empty
  Index token_type_count = 0;
  TensorNames embedding_norm;

  TensorNames self_norm;
  Index self_norm_from = 0;  ///< layers before this one have no self_norm
  AttentionNames self;
  TensorNames query_norm, key_norm;  ///< with "{head}": one tensor per head
  HeadNorm head_norm = HeadNorm::shared;
  bool unit_head_norm = false;               ///< queries and keys are normalised per head, without a scale
  std::string sinks;                         ///< (heads); or empty
  TensorNames position_key, position_query;  ///< projections of disentangled vectors; or empty
  TensorNames self_added_norm;
  TensorNames cross_norm;
  AttentionNames cross;
  TensorNames feed_forward_norm;
  TensorNames widen, gate, narrow;  ///< if gate and widen have one name: one tensor, the gate first
  TensorNames feed_forward_added_norm;
  TensorNames final_norm;
};

/// The prediction of tokens (core/model/model.h: PredictionHead). Without `words` there is none.
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
  std::string reason;  ///< why it is of this family: "config.json says model_type 'bert'"
  StackMap stack;      ///< the encoder, or the decoder of a decoder-only model
  std::optional<StackMap> decoder;
  PredictionMap prediction;
  Index longest = 0;                 ///< longest document, or target, that positions allow, in tokens; 0: any
  std::vector<std::string> ignored;  ///< redundant tensors: masks, position numbers; "*" matches any text
};

}  // namespace headwave
