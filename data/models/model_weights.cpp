#include "model_weights.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <list>
#include <mutex>
#include <numeric>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "../../core/attention/position_term.h"
#include "../../core/errors/error.h"
#include "../../core/model/layer.h"
#include "../arrays/mxfp4.h"
#include "../files/printable.h"

namespace headwave {

namespace {

/// Owns a model's weights: the checkpoint, and copies of converted tensors.
struct ModelStorage {
  std::shared_ptr<const Checkpoint> checkpoint;
  ConvertedTensors converted;
  std::list<Matrix32> matrices;
  std::list<Vector32> vectors;
};

/// How linear maps are read: whole, or only their shapes, with null data().
enum class Reading { whole, shape };

Index entries_of(const std::vector<Index>& shape) {
  return std::accumulate(shape.begin(), shape.end(), Index{1}, std::multiplies<>());
}

/// Reads the tensors that a map names, and remembers their names. A tensor that is missing or has the wrong
/// shape is read as empty and noted, so that all problems are reported together.
class TensorReader {
 public:
  TensorReader(std::shared_ptr<const Checkpoint> checkpoint, const WeightOptions& options)
      : storage_(std::make_shared<ModelStorage>()), options_(options) {
    storage_->checkpoint = std::move(checkpoint);
  }

  /// Sets how linear() reads from now on.
  void look_at(Reading reading) { reading_ = reading; }
  /// Sets the layer that "{layer}" in names stands for from now on.
  void enter(Index layer) { layer_ = std::to_string(layer); }
  void add_problem(std::string problem) { problems_.push_back(std::move(problem)); }

  [[nodiscard]] Reading reading() const { return reading_; }
  [[nodiscard]] const WeightOptions& options() const { return options_; }
  [[nodiscard]] const Checkpoint& checkpoint() const { return *storage_->checkpoint; }
  [[nodiscard]] std::shared_ptr<ModelStorage> storage() const { return storage_; }
  [[nodiscard]] const std::vector<std::string>& problems() const { return problems_; }
  [[nodiscard]] const std::vector<std::string>& missing() const { return missing_; }
  [[nodiscard]] bool was_read(const std::string& name) const { return read_.contains(name); }
  /// Names of all tensors that were read or are missing.
  [[nodiscard]] const std::set<std::string>& read() const { return read_; }
  /// A name with the number of the current layer in place of "{layer}".
  [[nodiscard]] std::string numbered(const std::string& name) const { return with_mark(name, "{layer}", layer_); }

  /// A tensor of this shape as (shape[0], product of the other axes).
  MatrixView32 matrix(const std::string& mapped, const std::vector<Index>& shape, Reading reading = Reading::whole) {
    const std::string name = numbered(mapped);
    return read<MatrixView32>(name, [&]() -> MatrixView32 {
      if (reading == Reading::whole) return checkpoint().matrix(name, shape, &storage_->converted);
      checkpoint().require(name, shape);
      return {nullptr, shape.front(), entries_of(shape) / shape.front()};
    });
  }

  /// (rows, cols), read row by row, since a document needs only few words
  WordTable words(const std::string& name, Index rows, Index cols) {
    const bool first = !was_read(name);
    if (matrix(name, {rows, cols}, Reading::shape).empty()) return {};
    WordTable words(rows, cols, checkpoint().row_reader(name));
    constexpr Index at_once = 1024;
    bool finite = true;
    for (Index row = 0; first && options_.check_values && finite && row < rows; row += at_once)
      finite = are_finite(words.copied(row, std::min(at_once, rows - row)));
    if (!finite) add_problem(not_finite_text(name));
    return words;
  }

  /// (size); the stored tensor may be (1, size)
  VectorView32 vector(const std::string& mapped, Index size) {
    const std::string name = numbered(mapped);
    return read<VectorView32>(name, [&]() -> VectorView32 {
      const std::vector<Index>& shape = checkpoint().info(name).shape;
      if (shape.size() == 2 && shape.front() == 1)
        return {checkpoint().matrix(name, {1, size}, &storage_->converted).data(), size};
      return checkpoint().vector(name, size, &storage_->converted);
    });
  }

  /// As matrix(), decoded from NAME_blocks and NAME_scales (data/arrays/mxfp4.h).
  MatrixView32 dequantised(const std::string& mapped, const std::vector<Index>& shape) {
    const std::string name = numbered(mapped);
    constexpr auto together = static_cast<Index>(mxfp4_block);
    if (shape.back() % together != 0) {
      add_problem(fmt::format("each row of tensor '{}_blocks' has {} numbers, expected a multiple of {}", name,
                              shape.back(), together));
      return {};
    }
    std::vector<Index> scales = shape;
    scales.back() /= together;
    std::vector<Index> blocks = scales;
    blocks.push_back(together / 2);
    const bool whole = reading_ == Reading::whole;
    const MatrixView32 scaled = read<MatrixView32>(name + "_scales", [&]() -> MatrixView32 {
      (void)checkpoint().bytes(name + "_scales", scales);
      return {nullptr, scales.front(), entries_of(scales) / scales.front()};
    });
    return read<MatrixView32>(name + "_blocks", [&]() -> MatrixView32 {
      const std::span<const std::byte> codes = checkpoint().bytes(name + "_blocks", blocks);
      const Index rows = shape.front(), cols = entries_of(shape) / rows;
      if (!whole || scaled.rows() == 0) return {nullptr, rows, cols};
      Matrix32& numbers = storage_->matrices.emplace_back(rows, cols);
      put_mxfp4(codes, checkpoint().bytes(name + "_scales", scales),
                {numbers.data(), static_cast<std::size_t>(numbers.size())});
      for (const char* part : {"_blocks", "_scales"}) checkpoint().let_go(name + part);
      return numbers;
    });
  }

  /// @param in_out  the weight is stored as (in, out), and is copied as (out, in)
  Linear linear(const TensorNames& names, Index out, Index in, bool in_out) {
    if (names.empty()) return {};
    Linear linear;
    linear.weight = matrix(names.weight, {in_out ? in : out, in_out ? out : in}, reading_);
    if (in_out && linear.weight.data() == nullptr) {
      linear.weight = linear.weight.empty() ? MatrixView32() : MatrixView32(nullptr, out, in);
    } else if (in_out) {
      linear.weight = storage_->matrices.emplace_back(linear.weight.transpose());
      forget(names.weight);
    }
    if (!names.bias.empty()) linear.bias = vector(names.bias, out);
    return linear;
  }

  /// Frees the memory of a tensor that was copied.
  void forget(const std::string& mapped) {
    storage_->converted.values.erase(numbered(mapped));
    checkpoint().let_go(numbered(mapped));
  }

  /// @param width  channels of the norm
  Norm norm(const TensorNames& names, const StackMap& stack, Index width) {
    if (names.empty()) return {};
    VectorView32 scale = vector(names.weight, width);
    if (stack.norm_offset != 0 && !scale.empty()) {
      storage_->vectors.emplace_back(scale.array() + stack.norm_offset);
      scale = storage_->vectors.back();
    }
    return {scale, names.bias.empty() ? VectorView32() : vector(names.bias, width), stack.norm_eps, stack.norm};
  }

 private:
  template <class View, class Find>
  View read(const std::string& name, const Find& find) {
    const bool first = read_.insert(name).second;
    if (first && !checkpoint().has(name)) missing_.push_back(name);
    try {
      const View view = find();
      if (options_.check_values && first && view.data() != nullptr && !are_finite(view))
        add_problem(not_finite_text(name));
      return view;
    } catch (const FormatError& problem) {
      if (!first) return {};
      const std::string file = shown_path(checkpoint().path()) + ": ";
      const std::string line = problem.what();
      add_problem(line.starts_with(file) ? line.substr(file.size()) : line);
      return {};
    }
  }

  std::shared_ptr<ModelStorage> storage_;
  WeightOptions options_;
  Reading reading_ = Reading::whole;
  std::string layer_;
  std::vector<std::string> problems_, missing_;
  std::set<std::string> read_;
};

enum class LayerParts { all, queries_and_keys };

/// Whether a name matches a pattern, in which "*" stands for any text.
bool matches(std::string_view name, std::string_view pattern) {
  const auto star = pattern.find('*');
  if (star == std::string_view::npos) return name == pattern;
  if (!name.starts_with(pattern.substr(0, star))) return false;
  for (std::size_t at = star; at <= name.size(); ++at)
    if (matches(name.substr(at), pattern.substr(star + 1))) return true;
  return false;
}

constexpr std::string_view expert_mark = "{expert}";

/// Whether every expert has a tensor of its own.
bool is_of_one_expert(const TensorNames& names) {
  return names.weight.find(expert_mark) != std::string::npos;
}

/// Width of words and positions.
Index embedded_width(const StackMap& map) {
  return map.d_embedding > 0 ? map.d_embedding : map.d_model;
}

/// The outputs `first` .. `first + count - 1` of a linear map.
Linear outputs(const Linear& fused, Index first, Index count) {
  if (fused.empty()) return {};
  Linear part = fused;
  const MatrixView32& w = fused.weight;
  if (w.data() == nullptr)
    part.weight = MatrixView32(nullptr, count, w.cols());
  else
    part.weight = MatrixView32(w.middleRows(first, count));
  if (!fused.bias.empty()) part.bias = VectorView32(fused.bias.data() + first, count);
  return part;
}

/// Copies `width` channels of every head, from the head's channel `first` on.
Linear heads_of(const Linear& fused, Index first, Index width, Index heads, ModelStorage& storage) {
  if (fused.empty()) return {};
  const Index of_head = fused.weight.rows() / heads;
  if (fused.weight.data() == nullptr) return {MatrixView32(nullptr, heads * width, fused.weight.cols()), fused.bias};
  Matrix32 weight(heads * width, fused.weight.cols());
  Vector32 bias(fused.bias.empty() ? 0 : weight.rows());
  for (Index head = 0; head < heads; ++head) {
    const Index from = head * of_head + first;
    weight.middleRows(head * width, width) = fused.weight.middleRows(from, width);
    if (bias.size() > 0) bias.segment(head * width, width) = fused.bias.segment(from, width);
  }
  storage.matrices.push_back(std::move(weight));
  storage.vectors.push_back(std::move(bias));
  return {storage.matrices.back(), storage.vectors.back()};
}

/// Reads queries, keys and values of compressed states. Each head's keys precede its values in the tensor.
void compressed_attention(TensorReader& reader, const AttentionNames& names, const StackMap& stack,
                          AttentionWeights& weights) {
  const LatentMap& latent = stack.latent;
  const BlockSpec& block = stack.block;
  const Index in = stack.d_model, own = block.d_head - latent.shared_channels;
  const Index d_value = stack.d_value > 0 ? stack.d_value : block.d_head;
  const auto norm = [&](const TensorNames& named, Index width) {
    Norm read = reader.norm(named, stack, width);
    read.eps = latent.norm_eps;
    return read;
  };
  if (latent.query_rank > 0)
    weights.query_latent = {reader.linear(latent.query, latent.query_rank, in, stack.in_out),
                            norm(latent.query_norm, latent.query_rank)};
  weights.query = reader.linear(names.query, block.heads * block.d_head, latent.query_rank > 0 ? latent.query_rank : in,
                                stack.in_out);
  const Linear down = reader.linear(latent.key, latent.key_rank + latent.shared_channels, in, stack.in_out);
  weights.key_latent = {outputs(down, 0, latent.key_rank), norm(latent.key_norm, latent.key_rank)};
  if (latent.shared_channels > 0) weights.shared_key = outputs(down, latent.key_rank, latent.shared_channels);
  const Linear both = reader.linear(names.key, block.heads * (own + d_value), latent.key_rank, stack.in_out);
  weights.key = heads_of(both, 0, own, block.heads, *reader.storage());
  weights.value = heads_of(both, own, d_value, block.heads, *reader.storage());
}

AttentionWeights attention(TensorReader& reader, const AttentionNames& names, const StackMap& stack, LayerParts parts) {
  if (names.empty()) return {};
  const BlockSpec& block = stack.block;
  const Index in = stack.d_model;
  const Index q = block.heads * block.d_head;
  const Index kv = block.kv_heads * block.d_head;
  const Index d_value = stack.d_value > 0 ? stack.d_value : block.d_head, v = block.kv_heads * d_value;
  AttentionWeights weights;
  switch (names.fusion) {
    case Fusion::none:
      weights.query = reader.linear(names.query, q, in, stack.in_out);
      weights.key = reader.linear(names.key, kv, in, stack.in_out);
      if (parts == LayerParts::all) weights.value = reader.linear(names.value, v, in, stack.in_out);
      break;
    case Fusion::qkv: {
      const Linear fused = reader.linear(names.query, q + kv + v, in, stack.in_out);
      weights.query = outputs(fused, 0, q);
      weights.key = outputs(fused, q, kv);
      weights.value = outputs(fused, q + kv, v);
      break;
    }
    case Fusion::kv: {
      weights.query = reader.linear(names.query, q, in, stack.in_out);
      const Linear fused = reader.linear(names.key, kv + v, in, stack.in_out);
      weights.key = outputs(fused, 0, kv);
      weights.value = outputs(fused, kv, v);
      break;
    }
    case Fusion::qkv_by_head: {
      // The bias is fused too, or each projection has its own: DeBERTa's q_bias and v_bias.
      const bool own = names.key.bias != names.query.bias || names.value.bias != names.query.bias;
      const Linear fused =
          reader.linear(own ? TensorNames{names.query.weight, ""} : names.query, q + 2 * kv, in, false);
      // For each key head: the queries that read it, its key, its value.
      const Index readers = block.heads / block.kv_heads;
      const auto part = [&](Index first, Index count) {
        return heads_of(fused, first * block.d_head, count * block.d_head, block.kv_heads, *reader.storage());
      };
      weights.query = part(0, readers);
      weights.key = part(readers, 1);
      weights.value = part(readers + 1, 1);
      if (own && !names.query.bias.empty()) weights.query.bias = reader.vector(names.query.bias, q);
      if (own && !names.key.bias.empty()) weights.key.bias = reader.vector(names.key.bias, kv);
      if (own && !names.value.bias.empty()) weights.value.bias = reader.vector(names.value.bias, kv);
      break;
    }
    case Fusion::kv_by_head:
      compressed_attention(reader, names, stack, weights);
      break;
  }
  if (parts == LayerParts::all)
    weights.output = reader.linear(names.output, stack.d_model, block.heads * d_value, stack.in_out);
  return weights;
}

/// The vectors of relative positions as one layer of disentangled attention projects them.
MatrixView32 projected_vectors(TensorReader& reader, const StackMap& stack, const TensorNames& projection) {
  if (projection.empty()) return {};
  const DisentangledMap& map = stack.positions.disentangled;
  const Linear weights = reader.linear(projection, stack.block.heads * stack.block.d_head, stack.d_model, stack.in_out);
  const MatrixView32 vectors = reader.matrix(map.vectors, {DisentangledTerm(map.rows).rows(), stack.d_model});
  const Norm norm = reader.norm(map.norm, stack, stack.d_model);
  // Nothing is computed if only names and shapes are checked.
  if (weights.weight.data() == nullptr || vectors.empty() || norm.empty() != map.norm.empty() ||
      !reader.options().check_values)
    return {};
  Matrix32 normalised = vectors;
  normalise(normalised, norm);
  return reader.storage()->matrices.emplace_back(linear(normalised, weights));
}

/// A norm of one head's queries or keys without a scale.
Norm unit_norm(TensorReader& reader, const StackMap& stack) {
  return {reader.storage()->vectors.emplace_back(Vector32::Ones(stack.block.d_head)), {}, stack.norm_eps, stack.norm};
}

/// Names of the linear maps of one feed-forward.
struct FeedForwardNames {
  TensorNames widen, gate, narrow;
};

/// Reads a feed-forward, whose gate and widen may be one tensor.
FeedForward feed_forward(TensorReader& reader, const StackMap& stack, const FeedForwardNames& names, Index wide) {
  const auto& [widen, gate, narrow] = names;
  FeedForward weights;
  if (!gate.empty() && gate.weight == widen.weight) {
    const Linear fused = reader.linear(gate, 2 * wide, stack.d_model, stack.in_out);
    weights.gate = outputs(fused, 0, wide);
    weights.widen = outputs(fused, wide, wide);
  } else {
    weights.widen = reader.linear(widen, wide, stack.d_model, stack.in_out);
    weights.gate = reader.linear(gate, wide, stack.d_model, stack.in_out);
  }
  weights.narrow = reader.linear(narrow, stack.d_model, wide, stack.in_out);
  return weights;
}

/// Every second output of a linear map, from `first` on.
Linear alternate_outputs(const Linear& fused, Index first, ModelStorage& storage) {
  if (fused.empty()) return {};
  const MatrixView32& w = fused.weight;
  const Index half = w.rows() / 2;
  Linear part;
  part.weight = w.data() == nullptr
                    ? MatrixView32(nullptr, half, w.cols())
                    : MatrixView32(w.data() + first * w.outerStride(), half, w.cols(), 2 * w.outerStride());
  if (!fused.bias.empty()) {
    Vector32 bias(half);
    for (Index i = 0; i < half; ++i) bias[i] = fused.bias[2 * i + first];
    part.bias = storage.vectors.emplace_back(std::move(bias));
  }
  return part;
}

/// The same linear map of every expert of a layer.
std::vector<Linear> of_experts(TensorReader& reader, const ExpertsMap& experts, const TensorNames& names, Index out,
                               Index in) {
  std::vector<Linear> all(static_cast<std::size_t>(experts.count));
  if (names.empty()) return all;
  if (is_of_one_expert(names)) {
    for (Index e = 0; e < experts.count; ++e) {
      const std::string number = std::to_string(e);
      all[static_cast<std::size_t>(e)] =
          reader.linear({with_mark(names.weight, expert_mark, number), with_mark(names.bias, expert_mark, number)}, out,
                        in, experts.in_out);
    }
    return all;
  }
  const bool quantised = reader.checkpoint().has(reader.numbered(names.weight + "_blocks"));
  const bool in_out = experts.in_out && !quantised;
  const MatrixView32 stored =
      quantised ? reader.dequantised(names.weight, {experts.count, out, in})
                : reader.matrix(names.weight, {experts.count, in_out ? in : out, in_out ? out : in}, reader.reading());
  const MatrixView32 biases = names.bias.empty() ? MatrixView32() : reader.matrix(names.bias, {experts.count, out});
  for (Index e = 0; e < experts.count && !stored.empty(); ++e) {
    Linear& linear = all[static_cast<std::size_t>(e)];
    const float* first = stored.data() == nullptr ? nullptr : stored.data() + e * out * in;
    if (in_out && first != nullptr)
      linear.weight = reader.storage()->matrices.emplace_back(MatrixView32(first, in, out).transpose());
    else
      linear.weight = MatrixView32(first, out, in);
    if (!biases.empty()) linear.bias = VectorView32(biases.data() + e * out, out);
  }
  if (in_out && stored.data() != nullptr) reader.forget(names.weight);
  return all;
}

/// The experts of a layer and their router.
Mixture mixture(TensorReader& reader, const StackMap& stack) {
  const ExpertsMap& map = stack.experts;
  const Index wide = map.d_feed_forward > 0 ? map.d_feed_forward : stack.d_feed_forward, d = stack.d_model;
  Mixture mixture;
  mixture.router = reader.linear(map.router, map.count, d, false);
  if (!map.correction.empty()) mixture.correction = reader.vector(map.correction, map.count);
  mixture.shared_weight = reader.linear(map.shared_weight, 1, d, false);
  const bool fused = !map.gate.empty() && map.gate.weight == map.widen.weight;
  const std::vector<Linear> narrow = of_experts(reader, map, map.narrow, d, wide);
  const std::vector<Linear> widens = of_experts(reader, map, map.widen, fused ? 2 * wide : wide, d);
  const std::vector<Linear> gates = fused ? std::vector<Linear>() : of_experts(reader, map, map.gate, wide, d);
  for (std::size_t e = 0; e < narrow.size(); ++e) {
    const Linear& both = widens[e];
    ModelStorage& storage = *reader.storage();
    if (!fused)
      mixture.experts.push_back({both, gates[e], narrow[e]});
    else if (map.alternating)
      mixture.experts.push_back({alternate_outputs(both, 1, storage), alternate_outputs(both, 0, storage), narrow[e]});
    else
      mixture.experts.push_back({outputs(both, wide, wide), outputs(both, 0, wide), narrow[e]});
  }
  return mixture;
}

/// A norm of queries or keys with its own scale for each head: one tensor (heads, d_head), or one tensor per
/// head if the name contains "{head}".
Norm norm_of_heads(TensorReader& reader, const TensorNames& names, const StackMap& stack, Index heads) {
  if (names.empty()) return {};
  constexpr std::string_view mark = "{head}";
  const Index width = stack.block.d_head;
  Norm norm{{}, {}, stack.norm_eps, stack.norm, width};
  if (names.weight.find(mark) == std::string::npos) {
    const MatrixView32 scale = reader.matrix(names.weight, {heads, width});
    norm.scale = VectorView32(scale.data(), scale.size());
    return norm;
  }
  Vector32 scale(heads * width);
  for (Index head = 0; head < heads; ++head) {
    const VectorView32 own = reader.vector(with_mark(names.weight, mark, std::to_string(head)), width);
    if (own.empty()) return {};
    scale.segment(head * width, width) = own;
  }
  norm.scale = reader.storage()->vectors.emplace_back(std::move(scale));
  return norm;
}

/// A layer's projections of queries, keys and values, and its norms of queries and keys.
AttentionWeights self_attention(TensorReader& reader, const StackMap& stack, Index layer, LayerParts parts) {
  const auto head_norm = [&](const TensorNames& names, Index heads) {
    if (stack.head_norm == HeadNorm::own) return norm_of_heads(reader, names, stack, heads);
    return reader.norm(names, stack, (stack.head_norm == HeadNorm::whole ? heads : 1) * stack.block.d_head);
  };
  AttentionWeights self = attention(reader, stack.self, stack, parts);
  if (!stack.sinks.empty()) self.sinks = reader.vector(stack.sinks, stack.block.heads);
  self.query_norm = head_norm(stack.query_norm, stack.block.heads);
  self.key_norm = head_norm(stack.key_norm, stack.block.kv_heads);
  const bool is_other = std::ranges::binary_search(stack.others.layers, layer);
  if (is_other ? stack.others.unit_head_norm : stack.unit_head_norm)
    self.query_norm = self.key_norm = unit_norm(reader, stack);
  self.position_key = projected_vectors(reader, stack, stack.position_key);
  self.position_query = projected_vectors(reader, stack, stack.position_query);
  return self;
}

/// The weights of one layer. Tensors that are missing or have the wrong shape become problems of the reader.
Block layer_weights(TensorReader& reader, const StackMap& stack, Index layer, LayerParts parts = LayerParts::all) {
  const auto norm = [&](const TensorNames& names) { return reader.norm(names, stack, stack.d_model); };
  reader.enter(layer);
  Block block;
  block.self = self_attention(reader, stack, layer, parts);
  if (layer >= stack.self_norm_from) block.self_norm = norm(stack.self_norm);
  if (parts == LayerParts::queries_and_keys) return block;
  block.self_added_norm = norm(stack.self_added_norm);
  block.cross = attention(reader, stack.cross, stack, parts);
  block.cross_norm = norm(stack.cross_norm);
  block.feed_forward_norm = norm(stack.feed_forward_norm);
  const ExpertsMap& experts = stack.experts;
  if (experts.in_layer(layer)) {
    block.mixture = mixture(reader, stack);
    if (!experts.shared_widen.empty())
      block.feed_forward = feed_forward(
          reader, stack, {experts.shared_widen, experts.shared_gate, experts.shared_narrow}, experts.d_shared);
  } else {
    block.feed_forward = feed_forward(reader, stack, {stack.widen, stack.gate, stack.narrow}, stack.d_feed_forward);
  }
  block.feed_forward_added_norm = norm(stack.feed_forward_added_norm);
  return block;
}

/// A layer while somebody uses it. Its destructor releases the pages of the checkpoint.
struct HeldLayer {
  std::shared_ptr<const ModelStorage> storage;
  std::set<std::string> tensors;
  Block block;

  HeldLayer() = default;
  HeldLayer(const HeldLayer&) = delete;
  HeldLayer& operator=(const HeldLayer&) = delete;
  ~HeldLayer() {
    for (const std::string& name : tensors)
      if (storage->checkpoint->has(name)) storage->checkpoint->let_go(name);
  }
};

/// The layers of a stack, read from a checkpoint on request. Tensors are converted anew each time, and pages
/// of files are released with the layer.
class LayersOnDemand : public LayerStore {
 public:
  LayersOnDemand(std::shared_ptr<const Checkpoint> checkpoint, const StackMap& map)
      : checkpoint_(std::move(checkpoint)),
        map_(map),
        all_(static_cast<std::size_t>(map.layers)),
        queries_and_keys_(all_.size()) {}

  [[nodiscard]] std::shared_ptr<const Block> block(Index layer) const override {
    const std::lock_guard lock(reading_);
    last_.reset();
    return held(all_, read_as(layer), LayerParts::all);
  }

  [[nodiscard]] std::shared_ptr<const Block> queries_and_keys(Index layer) const override {
    const std::lock_guard lock(reading_);
    const Index read = read_as(layer);
    if (auto whole = all_[static_cast<std::size_t>(read)].lock()) return whole;
    if (queries_and_keys_[static_cast<std::size_t>(read)].expired()) last_.reset();
    last_ = held(queries_and_keys_, read, LayerParts::queries_and_keys);
    return last_;
  }

 private:
  using Layers = std::vector<std::weak_ptr<const Block>>;

  /// The layer to read: always 0 if layers share one set of weights (ALBERT).
  [[nodiscard]] Index read_as(Index layer) const {
    return map_.self.query.weight.find("{layer}") == std::string::npos ? 0 : layer;
  }

  /// The block that somebody holds, or else a new one.
  std::shared_ptr<const Block> held(Layers& layers, Index layer, LayerParts parts) const {
    std::weak_ptr<const Block>& there = layers[static_cast<std::size_t>(layer)];
    if (auto block = there.lock()) return block;
    TensorReader reader(checkpoint_, {});
    auto layer_held = std::make_shared<HeldLayer>();
    layer_held->storage = reader.storage();
    layer_held->block = layer_weights(reader, map_, layer, parts);
    layer_held->tensors = reader.read();
    if (!reader.problems().empty())
      throw FormatError(problems_text(shown_path(checkpoint_->path()), reader.problems()));
    std::shared_ptr<const Block> block(layer_held, &layer_held->block);
    there = block;
    return block;
  }

  std::shared_ptr<const Checkpoint> checkpoint_;
  StackMap map_;
  mutable std::mutex reading_;
  mutable Layers all_, queries_and_keys_;
  mutable std::shared_ptr<const Block> last_;  // queries and keys are requested head by head
};

/// Adds biases of scores for each bucket of distances.
void set_biases(TensorReader& reader, const StackMap& map, const std::string& name, Index buckets, PositionTerm& term) {
  const MatrixView32 bias = reader.matrix(name, {buckets, map.block.heads});
  if (!bias.empty())
    term.added = std::make_shared<BucketBias>(bias, BucketOptions{map.positions.farthest, !map.block.causal});
}

/// Sets the position table, computed if it is not stored, or the position term of a stack.
void set_positions(TensorReader& reader, const StackMap& map, Index longest, Stack& stack) {
  const PositionMap& positions = map.positions;
  switch (positions.kind) {
    case PositionKind::none:
      return;
    case PositionKind::disentangled:
      stack.position_term.compared = std::make_shared<DisentangledTerm>(positions.disentangled.rows);
      if (positions.rows == 0) return;
      [[fallthrough]];  // it may have a table too
    case PositionKind::table: {
      const MatrixView32 table = reader.matrix(positions.table, {positions.rows, embedded_width(map)});
      if (!table.empty()) stack.embedding.positions = table.bottomRows(positions.rows - positions.first_row);
      if (!positions.biases.empty()) set_biases(reader, map, positions.biases, positions.buckets, stack.position_term);
      return;
    }
    case PositionKind::sinusoids:
      if (const std::string problem = too_many_sinusoids(longest, map.d_model); !problem.empty()) {
        reader.add_problem(problem);
        return;
      }
      if (!reader.options().check_values) return;
      reader.storage()->matrices.push_back(sinusoids(longest, map.d_model, positions.sinusoids));
      stack.embedding.positions = reader.storage()->matrices.back();
      return;
    case PositionKind::rotary:
      stack.position_term.turned = std::make_shared<RotaryTerm>(positions.rotary);
      return;
    case PositionKind::linear_bias:
      stack.position_term.added = std::make_shared<LinearBias>(map.block.heads);
      return;
    case PositionKind::buckets:
      set_biases(reader, map, positions.table, positions.rows, stack.position_term);
      return;
  }
}

Stack stack_of(TensorReader& reader, const StackMap& map, Index longest) {
  Stack stack;
  stack.block = map.block;
  // A config may ask for any number of layers, heads or experts; a billion must not be made.
  const Index most = most_layers + static_cast<Index>(reader.checkpoint().names().size());
  for (const auto& [asked, per_tensor, what] :
       {std::tuple(map.layers, 1, "layers"),
        {is_of_one_expert(map.experts.widen) ? map.experts.count : 0, 1, "experts"},
        {map.block.heads, 64, "heads"},
        {map.block.d_head, 64, "channels per head"}})
    if (asked / per_tensor > most) {
      reader.add_problem(fmt::format("{} {} are expected, too many for the {} tensors that are stored", asked, what,
                                     reader.checkpoint().names().size()));
      return stack;
    }
  const Index embedded = embedded_width(map);
  if (!map.words.empty()) stack.embedding.words = reader.words(map.words, map.vocabulary, embedded);
  stack.embedding.word_scale = map.word_scale;
  stack.embedding.refused_word = map.refused_word;
  if (!map.token_types.empty())
    stack.embedding.token_types = reader.matrix(map.token_types, {map.token_type_count, embedded});
  stack.embedding.norm = reader.norm(map.embedding_norm, map, embedded);
  stack.embedding.projection = reader.linear(map.embedding_projection, map.d_model, embedded, map.in_out);
  set_positions(reader, map, longest, stack);
  stack.others = {map.others.layers, map.others.window, map.others.chunk, map.others.temperature, {}};
  if (map.others.positions.kind == PositionKind::rotary)
    stack.others.position_term.turned = std::make_shared<RotaryTerm>(map.others.positions.rotary);
  const WeightOptions& options = reader.options();
  const Index kept = options.layers > 0 ? std::min(options.layers, map.layers) : map.layers;
  for (Index layer = 0; layer < map.layers; ++layer) {
    reader.look_at(options.by_layer || layer >= kept ? Reading::shape : Reading::whole);
    stack.blocks.push_back(layer_weights(reader, map, layer));
  }
  reader.look_at(Reading::whole);
  stack.blocks.resize(static_cast<std::size_t>(kept));
  if (options.by_layer) stack.store = std::make_shared<LayersOnDemand>(reader.storage()->checkpoint, map);
  stack.final_norm = reader.norm(map.final_norm, map, map.d_model);
  return stack;
}

PredictionHead prediction_of(TensorReader& reader, const PredictionMap& map, const StackMap& last) {
  PredictionHead head;
  const Index width = map.transform.empty() ? last.d_model : embedded_width(last);
  head.transform = reader.linear(map.transform, width, last.d_model, last.in_out);
  head.activation = map.activation;
  head.transform_norm = reader.norm(map.transform_norm, last, width);
  head.state_scale = map.state_scale;
  head.soft_cap = map.soft_cap;
  head.words = reader.linear(map.words, last.vocabulary, width, false);
  return head;
}

/// A function that reads what predicts tokens. Null if the map or the checkpoint lacks part of it; attention
/// does not need it.
std::function<std::shared_ptr<const PredictionHead>()> prediction_reader(const ModelMap& map,
                                                                         std::shared_ptr<const Checkpoint> checkpoint) {
  if (map.prediction.words.empty()) return {};
  for (const char* other : {"score.weight", "classifier.weight", "classifier.dense.weight", "qa_outputs.weight"})
    if (checkpoint->has(other)) return {};  // trained to classify, so tied words predict nothing
  const StackMap& last = map.decoder ? *map.decoder : map.stack;
  TensorReader shapes(checkpoint, {.check_values = false});
  shapes.look_at(Reading::shape);
  (void)prediction_of(shapes, map.prediction, last);
  if (!shapes.problems().empty()) return {};
  return [checkpoint = std::move(checkpoint), prediction = map.prediction, last] {
    TensorReader whole(checkpoint, {});
    auto held = std::make_shared<std::pair<PredictionHead, std::shared_ptr<const ModelStorage>>>(
        prediction_of(whole, prediction, last), whole.storage());
    if (!whole.problems().empty()) throw FormatError(problems_text(shown_path(checkpoint->path()), whole.problems()));
    return std::shared_ptr<const PredictionHead>(held, &held->first);
  };
}

/// The beginnings of names up to "{layer}". Tensors that begin so belong to a layer.
std::set<std::string> layer_beginnings(const ModelMap& map) {
  std::set<std::string> beginnings;
  for (const StackMap* stack : {&map.stack, map.decoder ? &*map.decoder : nullptr}) {
    if (stack == nullptr) continue;
    for (const std::string& name : {stack->self.query.weight, stack->self_norm.weight, stack->widen.weight})
      if (const auto mark = name.find("{layer}"); mark != std::string::npos) beginnings.insert(name.substr(0, mark));
  }
  return beginnings;
}

}  // namespace

std::string not_finite_text(const std::string& tensor) {
  return fmt::format(
      "tensor '{}' holds values that are NaN, infinite or beyond float32 ({:.2g}); expected finite weights", tensor,
      std::numeric_limits<float>::max());
}

std::string problems_text(const std::string& called, const std::vector<std::string>& problems) {
  const std::size_t more = problems.size() - 1;
  return fmt::format("{}: {}{}; `headwave inspect` lists what is there", called, problems.front(),
                     more > 0 ? fmt::format(" (and {} more problems)", more) : "");
}

std::string too_many_sinusoids(Index length, Index d_model) {
  constexpr Index most = Index{1} << 26U;  // 256 MiB
  if (length <= most / std::max<Index>(d_model, 1)) return "";
  return fmt::format(
      "{} sinusoidal positions of width {} are too many, expected at most {}: give the length that the model was "
      "trained on",
      length, d_model, most / std::max<Index>(d_model, 1));
}

MappedWeights mapped_weights(const ModelMap& map, std::shared_ptr<const Checkpoint> checkpoint,
                             const WeightOptions& options) {
  TensorReader reader(std::move(checkpoint), options);
  MappedWeights result;
  Model& model = result.model;
  model.family = map.family;
  model.longest = map.longest;
  model.stack = stack_of(reader, map.stack, model.longest);
  if (map.decoder) model.decoder = stack_of(reader, *map.decoder, model.longest);
  if (options.layers == 0 || options.layers >= map.stack.layers)
    model.read_prediction = prediction_reader(map, reader.storage()->checkpoint);
  model.storage = reader.storage();

  const std::set<std::string> beginnings = layer_beginnings(map);
  for (const std::string& name : reader.checkpoint().names()) {
    if (reader.was_read(name) || name == map.prediction.words.weight) continue;
    if (std::any_of(map.ignored.begin(), map.ignored.end(), [&](const auto& p) { return matches(name, p); })) continue;
    const bool of_layer = std::ranges::any_of(beginnings, [&](const auto& b) { return name.starts_with(b); });
    if (of_layer)
      reader.add_problem(fmt::format("tensor '{}' belongs to a layer, but a {} does not read it", name, map.family));
    else
      result.unused.push_back(name);
  }
  model.let_go = [storage = reader.storage(), names = reader.read()] {
    for (const std::string& name : names)
      if (storage->checkpoint->has(name)) storage->checkpoint->let_go(name);
  };
  if (options.by_layer) model.let_go();  // norms and biases share pages with weights that are not needed yet
  result.problems = reader.problems();
  result.missing = reader.missing();
  return result;
}

}  // namespace headwave
