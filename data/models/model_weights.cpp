#include "model_weights.h"

#include <algorithm>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "../../core/attention/position_term.h"
#include "../files/printable.h"
#include "tensor_reader.h"

namespace headwave {

namespace {

/// Whether a name is one of a pattern's, where "*" stands for any text.
bool matches(std::string_view name, std::string_view pattern) {
  const auto star = pattern.find('*');
  if (star == std::string_view::npos) return name == pattern;
  if (!name.starts_with(pattern.substr(0, star))) return false;
  for (std::size_t at = star; at <= name.size(); ++at)
    if (matches(name.substr(at), pattern.substr(star + 1))) return true;
  return false;
}

/// Of words and positions.
Index embedded_width(const StackMap& map) {
  return map.d_embedding > 0 ? map.d_embedding : map.d_model;
}

/// The position table, made where it is not stored, or the position term of a stack.
void set_positions(TensorReader& reader, const StackMap& map, Index longest, Stack& stack) {
  const PositionMap& positions = map.positions;
  switch (positions.kind) {
    case PositionKind::none:
      return;
    case PositionKind::disentangled:
      stack.position_term.compared = std::make_shared<DisentangledTerm>(positions.disentangled.rows);
      if (positions.rows == 0) return;
      [[fallthrough]];  // a table beside it
    case PositionKind::table: {
      const MatrixView32 table = reader.matrix(positions.table, positions.rows, embedded_width(map));
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
      stack.position_term.turned = std::make_shared<RotaryTerm>(positions.rotary);
      return;
    case PositionKind::linear_bias:
      stack.position_term.added = std::make_shared<LinearBias>(map.block.heads);
      return;
    case PositionKind::buckets: {
      const MatrixView32 bias = reader.matrix(positions.table, positions.rows, map.block.heads);
      if (!bias.empty())
        stack.position_term.added =
            std::make_shared<BucketBias>(bias, BucketOptions{positions.farthest, !map.block.causal});
      return;
    }
  }
}

/// The patch embedding, a convolution whose stride is its size, as a matrix over a patch's pixels; and the
/// opening tokens.
void set_image(TensorReader& reader, const StackMap& map, Embedding& embedding) {
  const ImageMap& image = map.image;
  if (image.empty()) return;
  const PatchGrid& grid = image.grid;
  embedding.patches.weight =
      reader.matrix(image.projection.weight, {map.d_model, grid.channels, grid.height, grid.width});
  if (!image.projection.bias.empty()) embedding.patches.bias = reader.vector(image.projection.bias, map.d_model);
  Matrix32 opening(grid.first, map.d_model);
  for (Index i = 0; i < grid.first; ++i) {
    const MatrixView32 token = reader.matrix(image.opening[static_cast<std::size_t>(i)], 1, map.d_model);
    if (token.empty()) return;
    opening.row(i) = token.row(0);
  }
  embedding.opening = reader.storage()->matrices.emplace_back(std::move(opening));
}

/// The convolutions over frames, as matrices over three of them.
void set_sound(TensorReader& reader, const StackMap& map, Embedding& embedding) {
  const SoundMap& sound = map.sound;
  if (sound.empty()) return;
  const auto convolution = [&](const TensorNames& names, Index d_in) {
    Linear linear;
    linear.weight = reader.matrix(names.weight, {map.d_model, d_in, FrameStem::frames_in_sight});
    if (!names.bias.empty()) linear.bias = reader.vector(names.bias, map.d_model);
    return linear;
  };
  embedding.frames = {convolution(sound.first, sound.bins), convolution(sound.second, map.d_model)};
}

Stack stack_of(TensorReader& reader, const StackMap& map, Index longest) {
  Stack stack;
  stack.block = map.block;
  // A config may ask for any number of layers; what is missing is listed layer by layer, but not a billion
  // times.
  if (map.layers > most_layers + static_cast<Index>(reader.checkpoint().names().size())) {
    reader.add_problem(fmt::format("{} layers are expected, but there are only {} tensors", map.layers,
                                   reader.checkpoint().names().size()));
    return stack;
  }
  // Nor is a slope made for each of a million heads, or an angle for each of a million channels.
  constexpr Index most_heads = Index{1} << 16U;
  if (const Index most = std::max(
          {map.block.heads, map.block.d_head, map.positions.rotary.channels, map.others.positions.rotary.channels});
      most > most_heads) {
    reader.add_problem(fmt::format("{} heads of width {} are expected, at most {} of either are read", map.block.heads,
                                   map.block.d_head, most_heads));
    return stack;
  }
  const Index embedded = embedded_width(map);
  if (!map.words.empty()) stack.embedding.words = reader.words(map.words, map.vocabulary, embedded);
  set_image(reader, map, stack.embedding);
  set_sound(reader, map, stack.embedding);
  stack.embedding.word_scale = map.word_scale;
  if (!map.token_types.empty())
    stack.embedding.token_types = reader.matrix(map.token_types, map.token_type_count, embedded);
  stack.embedding.norm = reader.norm(map.embedding_norm, map, embedded);
  stack.embedding.projection = reader.linear(map.embedding_projection, map.d_model, embedded, map.in_out);
  set_positions(reader, map, longest, stack);
  stack.others = {map.others.layers, map.others.window, {}};
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
  if (options.by_layer) stack.store = layers_on_demand(reader.storage()->checkpoint, map);
  stack.final_norm = reader.norm(map.final_norm, map, map.d_model);
  return stack;
}

PredictionHead prediction_of(TensorReader& reader, const PredictionMap& map, const StackMap& last) {
  PredictionHead head;
  if (map.words.empty()) return head;
  const Index width = map.transform.empty() ? last.d_model : embedded_width(last);
  head.transform = reader.linear(map.transform, width, last.d_model, last.in_out);
  head.activation = map.activation;
  head.transform_norm = reader.norm(map.transform_norm, last, width);
  head.state_scale = map.state_scale;
  head.soft_cap = map.soft_cap;
  head.words = reader.linear(map.words, last.vocabulary, width, false);
  return head;
}

/// What predicts tokens, or, where weights are read layer by layer, the shape of what does and how to read
/// it.
void set_prediction(TensorReader& reader, const ModelMap& map, Model& model) {
  const StackMap& last = map.decoder ? *map.decoder : map.stack;
  if (!reader.options().by_layer) {
    model.head = prediction_of(reader, map.prediction, last);
    return;
  }
  reader.look_at(Reading::shape);
  model.head = prediction_of(reader, map.prediction, last);
  reader.look_at(Reading::whole);
  model.read_head = [checkpoint = reader.storage()->checkpoint, prediction = map.prediction, last] {
    TensorReader whole(checkpoint, {});
    auto held = std::make_shared<std::pair<PredictionHead, std::shared_ptr<const ModelStorage>>>(
        prediction_of(whole, prediction, last), whole.storage());
    if (!whole.problems().empty()) throw FormatError(problems_text(shown_path(checkpoint->path()), whole.problems()));
    return std::shared_ptr<const PredictionHead>(held, &held->first);
  };
}

/// However many labels there are.
std::vector<Linear> classes_of(TensorReader& reader, const ModelMap& map) {
  std::vector<Linear> classes;
  for (const std::string& name : map.classifiers) {
    const std::string weight = name + ".weight";
    const bool there = reader.checkpoint().has(weight) && !reader.checkpoint().info(weight).shape.empty();
    const Index labels = there ? reader.checkpoint().info(weight).shape.front() : 1;
    classes.push_back(reader.linear({weight, name + ".bias"}, labels, map.stack.d_model, false));
  }
  return classes;
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
  model.longest_target = map.longest_target > 0 ? map.longest_target : map.longest;
  model.stack = stack_of(reader, map.stack, model.longest);
  if (map.decoder) model.decoder = stack_of(reader, *map.decoder, model.longest_target);
  set_prediction(reader, map, model);
  model.patches = map.stack.image.grid;
  model.classes = classes_of(reader, map);
  if (options.layers > 0 &&
      options.layers < map.stack.layers) {  // what reads the end of all layers has nothing to read
    model.head = {};
    model.read_head = {};
    model.classes.clear();
  }
  model.storage = reader.storage();

  const std::set<std::string> beginnings = layer_beginnings(map);
  for (const std::string& name : reader.checkpoint().names()) {
    if (reader.was_read(name)) continue;
    if (std::any_of(map.ignored.begin(), map.ignored.end(), [&](const auto& p) { return matches(name, p); })) continue;
    const bool of_layer = std::ranges::any_of(beginnings, [&](const auto& b) { return name.starts_with(b); });
    if (of_layer)
      reader.add_problem(fmt::format("tensor '{}' belongs to a layer, but a {} does not read it", name, map.family));
    else
      result.unused.push_back(name);
  }
  // Norms and biases lie between weights that are not needed yet.
  if (options.by_layer)
    for (const std::string& name : reader.read())
      if (reader.checkpoint().has(name)) reader.checkpoint().let_go(name);
  result.problems = reader.problems();
  result.missing = reader.missing();
  return result;
}

}  // namespace headwave
