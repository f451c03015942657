#include "model_weights.h"

#include <algorithm>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "../../core/attention/bias_terms.h"
#include "tensor_reader.h"

namespace headwave {

namespace {

/// "h.{layer}.ln_1.weight" with its number.
std::string at_layer(std::string name, Index layer) {
  constexpr std::string_view mark = "{layer}";
  for (auto at = name.find(mark); at != std::string::npos; at = name.find(mark))
    name.replace(at, mark.size(), fmt::format("{}", layer));
  return name;
}

/// Whether a name is one of a pattern's, where "*" stands for any text.
bool matches(std::string_view name, std::string_view pattern) {
  const auto star = pattern.find('*');
  if (star == std::string_view::npos) return name == pattern;
  if (!name.starts_with(pattern.substr(0, star))) return false;
  for (std::size_t at = star; at <= name.size(); ++at)
    if (matches(name.substr(at), pattern.substr(star + 1))) return true;
  return false;
}

/// `count` outputs of a linear map, from `first` on.
Linear outputs(const Linear& fused, Index first, Index count) {
  if (fused.empty()) return {};
  Linear part = fused;
  const MatrixView32& w = fused.weight;
  part.weight = fused.in_out ? MatrixView32(w.middleCols(first, count)) : MatrixView32(w.middleRows(first, count));
  if (!fused.bias.empty()) part.bias = VectorView32(fused.bias.data() + first, count);
  return part;
}

/// Query (0), key (1) or value (2) of every head, where heads come one after another with all three: a copy.
Linear heads_of(const Linear& fused, Index which, const BlockSpec& block, ModelStorage& storage) {
  if (fused.empty()) return {};
  const Index width = block.d_head;
  Matrix32 weight(block.heads * width, fused.weight.cols());
  Vector32 bias(fused.bias.empty() ? 0 : weight.rows());
  for (Index head = 0; head < block.heads; ++head) {
    const Index from = (3 * head + which) * width;
    weight.middleRows(head * width, width) = fused.weight.middleRows(from, width);
    if (bias.size() > 0) bias.segment(head * width, width) = fused.bias.segment(from, width);
  }
  storage.matrices.push_back(std::move(weight));
  storage.vectors.push_back(std::move(bias));
  return {storage.matrices.back(), storage.vectors.back()};
}

AttentionWeights attention(TensorReader& reader, const AttentionNames& names, const StackMap& stack) {
  if (names.empty()) return {};
  const BlockSpec& block = stack.block;
  const Index in = stack.d_model;
  const Index q = block.heads * block.d_head;
  const Index kv = block.kv_heads * block.d_head;
  AttentionWeights weights;
  switch (names.fusion) {
    case Fusion::none:
      weights.query = reader.linear(names.query, q, in, stack.in_out);
      weights.key = reader.linear(names.key, kv, in, stack.in_out);
      weights.value = reader.linear(names.value, kv, in, stack.in_out);
      break;
    case Fusion::qkv: {
      const Linear fused = reader.linear(names.query, q + 2 * kv, in, stack.in_out);
      weights.query = outputs(fused, 0, q);
      weights.key = outputs(fused, q, kv);
      weights.value = outputs(fused, q + kv, kv);
      break;
    }
    case Fusion::kv: {
      weights.query = reader.linear(names.query, q, in, stack.in_out);
      const Linear fused = reader.linear(names.key, 2 * kv, in, stack.in_out);
      weights.key = outputs(fused, 0, kv);
      weights.value = outputs(fused, kv, kv);
      break;
    }
    case Fusion::qkv_by_head: {
      const Linear fused = reader.linear(names.query, 3 * q, in, false);
      weights.query = heads_of(fused, 0, block, *reader.storage());
      weights.key = heads_of(fused, 1, block, *reader.storage());
      weights.value = heads_of(fused, 2, block, *reader.storage());
      break;
    }
  }
  weights.output = reader.linear(names.output, stack.d_model, q, stack.in_out);
  return weights;
}

TensorNames numbered(const TensorNames& names, Index layer) {
  return {at_layer(names.weight, layer), at_layer(names.bias, layer)};
}

AttentionNames numbered(const AttentionNames& names, Index layer) {
  return {numbered(names.query, layer), numbered(names.key, layer), numbered(names.value, layer),
          numbered(names.output, layer), names.fusion};
}

Block block(TensorReader& reader, const StackMap& stack, Index layer) {
  const auto linear = [&](const TensorNames& names, Index out, Index in) {
    return reader.linear(numbered(names, layer), out, in, stack.in_out);
  };
  Block block;
  block.self = attention(reader, numbered(stack.self, layer), stack);
  block.self_norm = reader.norm(numbered(stack.self_norm, layer), stack);
  block.cross = attention(reader, numbered(stack.cross, layer), stack);
  block.cross_norm = reader.norm(numbered(stack.cross_norm, layer), stack);
  block.feed_forward_norm = reader.norm(numbered(stack.feed_forward_norm, layer), stack);
  block.feed_forward = {linear(stack.widen, stack.d_feed_forward, stack.d_model),
                        linear(stack.gate, stack.d_feed_forward, stack.d_model),
                        linear(stack.narrow, stack.d_model, stack.d_feed_forward)};
  return block;
}

/// The position table, made where it is not stored, or the position term of a stack.
void set_positions(TensorReader& reader, const StackMap& map, Index longest, Stack& stack) {
  const PositionMap& positions = map.positions;
  switch (positions.kind) {
    case PositionKind::none:
      return;
    case PositionKind::table: {
      const MatrixView32 table = reader.matrix(positions.table, positions.rows, map.d_model);
      if (!table.empty()) stack.embedding.positions = table.bottomRows(positions.rows - positions.first_row);
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
      stack.position_term = std::make_shared<RotaryTerm>(positions.rotary);
      return;
    case PositionKind::linear_bias:
      stack.position_term = std::make_shared<LinearBiasTerm>(map.block.heads);
      return;
    case PositionKind::buckets: {
      const MatrixView32 bias = reader.matrix(positions.table, positions.rows, map.block.heads);
      if (!bias.empty())
        stack.position_term = std::make_shared<BucketTerm>(bias, BucketOptions{positions.farthest, !map.block.causal});
      return;
    }
  }
}

Stack stack_of(TensorReader& reader, const StackMap& map, Index longest) {
  Stack stack;
  stack.block = map.block;
  // A config may ask for any number of layers; what is missing is listed layer by layer, but not a billion times.
  if (map.layers > most_layers + static_cast<Index>(reader.checkpoint().names().size())) {
    reader.add_problem(fmt::format("{} layers are expected, but there are only {} tensors", map.layers,
                                   reader.checkpoint().names().size()));
    return stack;
  }
  // Nor is a slope made for each of a million heads, or an angle for each of a million channels.
  constexpr Index most_heads = Index{1} << 16U;
  if (const Index most = std::max({map.block.heads, map.block.d_head, map.positions.rotary.channels});
      most > most_heads) {
    reader.add_problem(fmt::format("{} heads of width {} are expected, at most {} of either are read", map.block.heads,
                                   map.block.d_head, most_heads));
    return stack;
  }
  stack.embedding.words = reader.matrix(map.words, map.vocabulary, map.d_model);
  stack.embedding.word_scale = map.word_scale;
  if (!map.token_types.empty())
    stack.embedding.token_types = reader.matrix(map.token_types, map.token_type_count, map.d_model);
  stack.embedding.norm = reader.norm(map.embedding_norm, map);
  set_positions(reader, map, longest, stack);
  for (Index layer = 0; layer < map.layers; ++layer) stack.blocks.push_back(block(reader, map, layer));
  stack.final_norm = reader.norm(map.final_norm, map);
  return stack;
}

PredictionHead prediction_of(TensorReader& reader, const PredictionMap& map, const StackMap& last) {
  PredictionHead head;
  if (map.words.empty()) return head;
  head.transform = reader.linear(map.transform, last.d_model, last.d_model, last.in_out);
  head.activation = map.activation;
  head.transform_norm = reader.norm(map.transform_norm, last);
  head.state_scale = map.state_scale;
  head.words = reader.linear(map.words, last.vocabulary, last.d_model, false);
  return head;
}

/// What stands before "{layer}" in the names of a stack: tensors that begin so belong to a layer.
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

std::string too_many_sinusoids(Index length, Index d_model) {
  constexpr Index most = Index{1} << 26U;  // 256 MiB of them
  if (length <= most / std::max<Index>(d_model, 1)) return "";
  return fmt::format(
      "{} positions of width {} are to be made as sinusoids, at most {} are: say how many the model was trained on",
      length, d_model, most / std::max<Index>(d_model, 1));
}

MappedWeights mapped_weights(const ModelMap& map, std::shared_ptr<const Checkpoint> checkpoint,
                             const WeightOptions& options) {
  TensorReader reader(std::move(checkpoint), options);
  MappedWeights result;
  Model& model = result.model;
  model.family = map.family;
  model.longest = map.longest;
  model.stack = stack_of(reader, map.stack, map.longest);
  if (map.decoder) model.decoder = stack_of(reader, *map.decoder, map.longest);
  model.head = prediction_of(reader, map.prediction, map.decoder ? *map.decoder : map.stack);
  model.storage = reader.storage();

  const std::set<std::string> beginnings = layer_beginnings(map);
  for (const std::string& name : reader.checkpoint().names()) {
    if (reader.was_read(name)) continue;
    if (std::any_of(map.ignored.begin(), map.ignored.end(), [&](const auto& p) { return matches(name, p); })) continue;
    const bool of_layer =
        std::any_of(beginnings.begin(), beginnings.end(), [&](const auto& b) { return name.starts_with(b); });
    if (of_layer)
      reader.add_problem(fmt::format("tensor '{}' belongs to a layer, but a {} does not read it", name, map.family));
    else
      result.unused.push_back(name);
  }
  result.problems = reader.problems();
  result.missing = reader.missing();
  return result;
}

}  // namespace headwave
