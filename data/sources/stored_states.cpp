#include "stored_states.h"

#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "../../core/numbers/error.h"
#include "../arrays/safetensors_file.h"
#include "stored_arrays.h"
#include "stored_documents.h"

namespace headwave {

namespace {

/// Query and key projections that lie beside the states, as (out, in).
struct StoredWeights {
  struct Projection {
    Matrix32 weight;
    Vector32 bias;
  };
  std::vector<Projection> query, key;  // one per layer, empty where nothing is stored
};

StoredWeights::Projection projection(const StoredArrays& arrays, const std::string& name, Index d_model) {
  const StoredArray weight = arrays.read(name);
  if (weight.shape.size() != 2 || weight.shape[0] != d_model)
    throw FormatError(fmt::format("{} has shape {}, expected (d_model, heads * d_head) with d_model {}, as the states",
                                  arrays.called(name), shape_text(weight.shape), d_model));
  StoredWeights::Projection result{MatrixView32(weight.values.data(), weight.shape[0], weight.shape[1]).transpose(),
                                   {}};
  if (!arrays.has(name + "_bias")) return result;
  const StoredArray bias = arrays.read(name + "_bias");
  if (static_cast<Index>(bias.values.size()) != result.weight.rows())
    throw FormatError(fmt::format("{} has {} entries, expected {}", arrays.called(name + "_bias"), bias.values.size(),
                                  result.weight.rows()));
  result.bias = VectorView32(bias.values.data(), result.weight.rows());
  return result;
}

/// What the attributes beside the arrays say of attention; nothing where they are silent.
struct StatedAttention {
  std::optional<Index> heads, d_head, window;
  std::optional<bool> causal;
  std::optional<double> scale;
};

std::optional<Index> stated_size(const StoredArrays& arrays, const char* name) {
  const std::optional<double> number = arrays.number(name);
  if (!number) return {};
  if (*number < 1 || *number > 1e6 || *number != std::floor(*number))
    throw FormatError(fmt::format("{}: attribute '{}' is {:g}, expected a whole number of at least 1",
                                  arrays.path().string(), name, *number));
  return static_cast<Index>(*number);
}

StatedAttention stated_attention(const StoredArrays& arrays) {
  StatedAttention stated{
      stated_size(arrays, "num_heads"), stated_size(arrays, "head_dim"), stated_size(arrays, "window"), {}, {}};
  if (const std::optional<double> causal = arrays.number("causal")) {
    if (*causal != 0 && *causal != 1)
      throw FormatError(
          fmt::format("{}: attribute 'causal' is {:g}, expected 0 or 1", arrays.path().string(), *causal));
    stated.causal = *causal == 1;
  }
  stated.scale = arrays.number("score_scale");
  if (stated.scale && *stated.scale <= 0)
    throw FormatError(fmt::format("{}: attribute 'score_scale' is {:g}, expected a number above 0",
                                  arrays.path().string(), *stated.scale));
  return stated;
}

/// What the file says must be what the model does: states of another model would give attention that nobody computed.
void require_same_attention(const StoredArrays& arrays, const BlockSpec& spec) {
  const StatedAttention stated = stated_attention(arrays);
  const auto differs = [&](const char* name, double came, double model) {
    throw ShapeError(fmt::format("{}: attribute '{}' is {:g}, the model's is {:g}; are the states from this model?",
                                 arrays.path().string(), name, came, model));
  };
  const auto number = [](auto value) { return static_cast<double>(value); };
  if (stated.heads && *stated.heads != spec.heads) differs("num_heads", number(*stated.heads), number(spec.heads));
  if (stated.d_head && *stated.d_head != spec.d_head) differs("head_dim", number(*stated.d_head), number(spec.d_head));
  if (stated.causal && *stated.causal != spec.causal) differs("causal", number(*stated.causal), number(spec.causal));
  if (stated.window && *stated.window != spec.window) differs("window", number(*stated.window), number(spec.window));
  // Attributes are often float32: seven digits.
  if (stated.scale && std::abs(*stated.scale - spec.score_scale) > 1e-6 * spec.score_scale)
    differs("score_scale", *stated.scale, spec.score_scale);
}

/// Every layer's queries have the width of the first, and so have its keys.
void require_width(Index& width, const StoredArrays& arrays, const std::string& name) {
  const Index came = stored_extent(arrays, name).width;
  if (width == 0) width = came;
  if (came != width)
    throw FormatError(
        fmt::format("{} has width {}, that of a layer before it {}; expected heads * d_head in all of them",
                    arrays.called(name), came, width));
}

/// How many heads share the keys: keys are as wide as queries, or several heads read the same.
Index key_heads(const StoredArrays& arrays, const BlockSpec& block, Index key_width) {
  const Index kv_heads = key_width / block.d_head;
  if (key_width % block.d_head != 0 || kv_heads < 1 || block.heads % kv_heads != 0)
    throw FormatError(
        fmt::format("{}: keys of width {} beside queries of {} heads x {}; expected as many heads of keys, "
                    "or a number that divides them",
                    arrays.path().string(), key_width, block.heads, block.d_head));
  return kv_heads;
}

/// A model that knows how to make queries and keys of the stored layers, and nothing else.
Model model_beside(const StoredArrays& arrays, const std::vector<StoredLayerNames>& layers, Index asked_heads) {
  const StatedAttention stated = stated_attention(arrays);
  const Index heads = asked_heads > 0 ? asked_heads : stated.heads.value_or(0);
  const Index count = layers.back().layer + 1;
  auto weights = std::make_shared<StoredWeights>();
  weights->query.resize(static_cast<std::size_t>(count));
  weights->key.resize(static_cast<std::size_t>(count));
  Model model;
  model.family = "stored states";
  model.stack.blocks.resize(static_cast<std::size_t>(count));
  Index width = 0, key_width = 0;
  for (const StoredLayerNames& layer : layers) {
    if (layer.projected) {
      require_width(width, arrays, at_layer("queries", layer.layer));
      require_width(key_width, arrays, at_layer("keys", layer.layer));
      continue;
    }
    const Index d_model = stored_extent(arrays, at_layer("hidden_states", layer.layer)).width;
    const auto l = static_cast<std::size_t>(layer.layer);
    const std::string at = at_layer("weights", layer.layer);
    if (!arrays.has(at + "/query") || !arrays.has(at + "/key"))
      throw FormatError(fmt::format(
          "{}: neither queries and keys nor weights of layer {} are stored; give the model with --model DIR",
          arrays.path().string(), layer.layer));
    weights->query[l] = projection(arrays, at + "/query", d_model);
    weights->key[l] = projection(arrays, at + "/key", d_model);
    model.stack.blocks[l].self.query = {weights->query[l].weight, weights->query[l].bias};
    model.stack.blocks[l].self.key = {weights->key[l].weight, weights->key[l].bias};
    width = weights->query[l].weight.rows();
    key_width = weights->key[l].weight.rows();
  }
  if (heads < 1)
    throw ShapeError(
        fmt::format("{}: the number of heads is neither stored (attribute num_heads) nor given; say --head-count N",
                    arrays.path().string()));
  if (width % heads != 0)
    throw ShapeError(
        fmt::format("{}: {} heads do not divide queries of width {}", arrays.path().string(), heads, width));
  BlockSpec& block = model.stack.block;
  block.heads = heads;
  block.d_head = width / heads;
  block.kv_heads = key_heads(arrays, block, key_width);
  if (stated.d_head && *stated.d_head != block.d_head)
    throw ShapeError(fmt::format("{}: {} heads make {} columns each, attribute 'head_dim' says {}",
                                 arrays.path().string(), heads, block.d_head, *stated.d_head));
  block.causal = stated.causal.value_or(false);
  block.window = stated.window.value_or(0);
  block.score_scale = stated.scale.value_or(1.0 / std::sqrt(static_cast<double>(block.d_head)));
  model.storage = weights;
  return model;
}

}  // namespace

StoredInput stored_states(const std::filesystem::path& path, const StoredStatesOptions& options) {
  std::shared_ptr<const StoredArrays> arrays = open_stored_arrays(path, options.layer);
  std::vector<StoredLayerNames> layers = stored_layers(*arrays);
  Model model = model_beside(*arrays, layers, options.heads);
  return {std::move(model), stored_documents(std::move(arrays), std::move(layers), options.documents)};
}

StoredInput stored_states(const std::filesystem::path& path, Model model, const StoredStatesOptions& options) {
  std::shared_ptr<const StoredArrays> arrays = open_stored_arrays(path, options.layer);
  std::vector<StoredLayerNames> layers = stored_layers(*arrays);
  for (const StoredLayerNames& layer : layers) {
    if (!layer.projected && layer.layer >= model.stack.layers())
      throw ShapeError(
          fmt::format("{}: states that enter layer {}, but the model has the layers 0 to {}; are they from "
                      "this model?",
                      path.string(), layer.layer, model.stack.layers() - 1));
    if (!layer.states) continue;
    const Index width = stored_extent(*arrays, at_layer("hidden_states", layer.layer)).width;
    if (width != model.stack.d_model())
      throw ShapeError(
          fmt::format("{}: states of layer {} have width {}, the model's states have {}; are they from this "
                      "model?",
                      path.string(), layer.layer, width, model.stack.d_model()));
  }
  require_same_attention(*arrays, model.stack.block);
  if (model.stack.rotary() != nullptr && layers.front().projected && arrays->number("turned").value_or(0) != 0)
    throw ShapeError(fmt::format(
        "{}: its queries and keys are turned already (attribute 'turned'), and the model would turn them again; leave "
        "--model away",
        path.string()));
  return {std::move(model), stored_documents(std::move(arrays), std::move(layers), options.documents)};
}

}  // namespace headwave
