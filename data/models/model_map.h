#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "../../core/attention/position_term.h"
#include "../../core/model/model.h"

namespace headwave {

/// A name with a text in the place of every mark, such as "{layer}".
std::string with_mark(std::string name, std::string_view mark, std::string_view text);

/// Names of the tensors of one linear map or one norm; "{layer}" stands for the number of the layer, from 0.
/// An empty weight: the model has no such part. An empty bias: the part has no bias.
struct TensorNames {
  std::string weight;
  std::string bias;

  [[nodiscard]] bool empty() const { return weight.empty(); }
};

/// Which projections share one tensor: none; query, key and value one after another; key and value; query, key and value
/// of head 0, then of head 1, and so on (of shared keys: the queries that read key head 0, then its key and value, and so
/// on); or the same of key and value.
enum class Fusion { none, qkv, kv, qkv_by_head, kv_by_head };

/// The projections of one attention. Fused projections have the same name.
struct AttentionNames {
  TensorNames query, key, value, output;
  Fusion fusion = Fusion::none;

  [[nodiscard]] bool empty() const { return query.empty(); }
};

/// How a stack knows positions: not at all, by a stored table, by sinusoids, or by a position term of
/// attention. Disentangled attention may have a table too.
enum class PositionKind { none, table, sinusoids, rotary, linear_bias, buckets, disentangled };

/// Vectors of relative positions, projected by each layer (core/attention/position_term.h).
struct DisentangledMap {
  std::string vectors;       ///< (2 s, d_model)
  TensorNames norm;          ///< of these; or empty
  DisentangledOptions rows;  ///< which of them an offset reads
};

/// What norms of queries and keys hold: d_head channels for all heads; those of each head; or the whole width.
enum class HeadNorm { shared, own, whole };

/// How config.json spells rotary positions, and the defaults for missing keys.
struct RopeKeys {
  double base = 10000;
  std::string base_key = "rope_theta";
  std::string group;     ///< the object inside rope_parameters, where layers differ; empty: that is one itself
  bool scaled = true;    ///< rope_scaling is of these layers too
  bool partial = false;  ///< a share of the channels may turn
  std::string share_key = "partial_rotary_factor";
  double share = 1;  ///< of the channels
  Index width = 0;   ///< of which that is a share; 0: a head's
};

struct PositionMap {
  PositionKind kind = PositionKind::none;
  std::string table;    ///< table: the tensor; buckets: the biases (buckets, heads)
  Index rows = 0;       ///< rows of the table (0: none beside a term), or the number of buckets
  std::string biases;   ///< table: biases (buckets, heads) that scores get beside it; or empty
  Index buckets = 0;    ///< table: of these
  Index first_row = 0;  ///< table: the row that token 0 reads
  SinusoidOptions sinusoids;
  RotaryOptions rotary;
  std::optional<RopeKeys> rope;  ///< while a map is read: `rotary` follows from config.json
  Index farthest = 128;          ///< of buckets: distances from here on share the last one
  DisentangledMap disentangled;

  /// Whether a table is added to the words.
  [[nodiscard]] bool has_table() const {
    return kind == PositionKind::table || (kind == PositionKind::disentangled && rows > 0);
  }
};

/// Compressed states that queries, keys and values are projected from (core/attention/block.h: Latent).
struct LatentMap {
  Index query_rank = 0;       ///< channels that queries are projected from; 0: from the state
  Index key_rank = 0;         ///< the same of keys and values; 0: no state is compressed
  Index shared_channels = 0;  ///< of d_head, the last, that all heads' keys share; they stand after key_rank in `key`
  float norm_eps = 1e-6F;
  TensorNames query, query_norm;  ///< (query_rank, d_model), (query_rank)
  TensorNames key, key_norm;      ///< (key_rank + shared_channels, d_model), (key_rank)

  [[nodiscard]] bool empty() const { return key_rank == 0; }
};

/// Experts (core/attention/block.h: Mixture). In their names "{expert}" counts from 0; a name without it is one tensor of
/// all, whose first axis is the expert, or NAME_blocks and NAME_scales (data/arrays/mxfp4.h).
struct ExpertsMap {
  Index count = 0;           ///< 0: there are none
  Index d_feed_forward = 0;  ///< width of one; 0: the stack's
  Index d_shared = 0;        ///< width of the shared expert; 0: there is none
  std::vector<Index> dense;  ///< layers without experts, ascending
  bool in_out = false;       ///< stored (in, out)
  bool alternating = false;  ///< gate and widen of one name alternate, row by row, the gate first
  TensorNames router;        ///< (count, d_model)
  std::string correction;    ///< (count); or empty
  TensorNames widen, gate, narrow;
  TensorNames shared_widen, shared_gate, shared_narrow;
  TensorNames shared_weight;  ///< (1, d_model); or empty

  [[nodiscard]] bool in_layer(Index layer) const {
    return count > 0 && !std::binary_search(dense.begin(), dense.end(), layer);
  }
};

/// Layers with another window or other positions than the rest (core/model/model.h: OtherLayers).
struct OthersMap {
  std::vector<Index> layers;  ///< ascending; empty: all are alike
  Index window = 0, chunk = 0;
  bool unit_head_norm = false;
  QueryTemperature temperature;
  PositionMap positions;  ///< no position term, or rotary with as many channels as the stack's
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
  float norm_offset = 0;  ///< what is added to every norm's stored scale: 1 in Gemma
  bool in_out = false;    ///< linear weights are stored (in, out), as in GPT-2, and transposed when they are read

  std::string words;
  float word_scale = 1;
  Index refused_word = -1;  ///< an id that no document may hold: ESM's mask, which changes how words are scaled
  Index d_embedding = 0;    ///< width of words, positions and token types where they are projected to d_model; else 0
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
  TensorNames query_norm, key_norm;  ///< with "{head}" one tensor for each head
  HeadNorm head_norm = HeadNorm::shared;
  bool unit_head_norm = false;               ///< queries and keys are normalised head by head, without a scale
  std::string sinks;                         ///< (heads); or empty
  TensorNames position_key, position_query;  ///< of disentangled attention: what projects its vectors; or empty
  TensorNames self_added_norm;
  TensorNames cross_norm;
  AttentionNames cross;
  TensorNames feed_forward_norm;
  TensorNames widen, gate, narrow;  ///< gate and widen of one name: one tensor, the gate first
  TensorNames feed_forward_added_norm;
  TensorNames final_norm;
};

/// What predicts tokens (core/model/model.h: PredictionHead); without `words` nothing does.
struct PredictionMap {
  TensorNames transform;
  Activation activation = Activation::gelu;
  TensorNames transform_norm;
  float state_scale = 1;
  float soft_cap = 0;
  TensorNames words;
};

/// The description of a model: everything that is needed to read a checkpoint, without its weights.
/// Families of Hugging Face models become one of these through their config.json (families.h); any other
/// checkpoint through a small TOML file (families.h).
struct ModelMap {
  std::string family;  ///< "bert", "gpt2", ...
  std::string reason;  ///< why it was taken for that: "config.json says model_type 'bert'"
  StackMap stack;      ///< the encoder, or the decoder of a decoder-only model
  std::optional<StackMap> decoder;
  PredictionMap prediction;
  Index longest = 0;                 ///< longest document, or target, the positions allow, in tokens; 0: any
  std::vector<std::string> ignored;  ///< redundant tensors: masks, position numbers; "*" matches any text
};

}  // namespace headwave
