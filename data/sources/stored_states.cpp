#include "stored_states.h"

#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "../../core/numbers/error.h"
#include "../arrays/safetensors_file.h"
#include "../files/digest.h"
#include "stored_arrays.h"

namespace headwave {

namespace {

/// More layers than any model has: where the search for layer_L ends.
constexpr Index most_layers = 1024;

std::string at_layer(const char* what, Index layer) {
  return fmt::format("{}/layer_{}", what, layer);
}

/// What is stored of one layer.
struct StoredLayerNames {
  Index layer = 0;
  bool states = false, projected = false;
};

/// (documents, T, width), where a single document may have been stored as (T, width).
struct Extent {
  Index documents = 0, length = 0, width = 0;
  bool single = false;
  bool operator==(const Extent&) const = default;
};

Extent extent_of(const StoredArrays& arrays, const std::string& name) {
  const std::vector<Index> shape = arrays.shape(name);
  Extent extent;
  if (shape.size() == 2) extent = {1, shape[0], shape[1], true};
  if (shape.size() == 3) extent = {shape[0], shape[1], shape[2], false};
  if (extent.documents < 1 || extent.length < 1 || extent.width < 1)
    throw FormatError(fmt::format("{} has shape {}, expected (documents, T, width) or (T, width), none of them 0",
                                  arrays.called(name), shape_text(shape)));
  return extent;
}

std::vector<StoredLayerNames> layers_of(const StoredArrays& arrays) {
  std::vector<StoredLayerNames> layers;
  for (Index layer = 0; layer < most_layers; ++layer) {
    const bool states = arrays.has(at_layer("hidden_states", layer));
    const bool query = arrays.has(at_layer("queries", layer)), key = arrays.has(at_layer("keys", layer));
    if (query != key)
      throw FormatError(fmt::format("{}: of layer {} only the {} are stored; expected both or neither",
                                    arrays.path().string(), layer, query ? "queries" : "keys"));
    if (states || query) layers.push_back({layer, states, query});
  }
  if (layers.empty())
    throw FormatError(fmt::format(
        "{}: neither 'hidden_states/layer_L' nor 'queries/layer_L' and 'keys/layer_L' found; docs/conventions.md "
        "shows what stored states look like",
        arrays.path().string()));
  return layers;
}

class StoredDocuments : public Source {
 public:
  StoredDocuments(std::shared_ptr<const StoredArrays> arrays, std::vector<StoredLayerNames> layers, Index at_most)
      : arrays_(std::move(arrays)), layers_(std::move(layers)) {
    bool first = true;
    for (const StoredLayerNames& layer : layers_)
      for (const char* what : {"hidden_states", "queries", "keys"}) {
        if (std::string(what) == "hidden_states" ? !layer.states : !layer.projected) continue;
        Extent extent = extent_of(*arrays_, at_layer(what, layer.layer));
        extent.width = 0;
        if (first) extent_ = extent;
        if (extent != extent_)
          throw FormatError(fmt::format("{} holds {} documents of {} tokens, another layer {} of {}; expected the same",
                                        arrays_->called(at_layer(what, layer.layer)), extent.documents, extent.length,
                                        extent_.documents, extent_.length));
        first = false;
      }
    stored_ = extent_.documents;
    if (at_most > extent_.documents)
      throw FormatError(fmt::format("{}: holds {} documents, {} were asked for; say --documents {} or fewer",
                                    arrays_->path().string(), extent_.documents, at_most, extent_.documents));
    if (at_most > 0) extent_.documents = at_most;
    tokens_ = arrays_->texts("tokens");
    const auto length = static_cast<std::size_t>(extent_.length);
    if (!tokens_.empty() && tokens_.size() != length && tokens_.size() != length * static_cast<std::size_t>(stored_))
      throw FormatError(
          fmt::format("{}: 'tokens' has {} entries, expected one per token", arrays_->path().string(), tokens_.size()));
  }

  [[nodiscard]] Index count() const override { return extent_.documents; }
  [[nodiscard]] Index length(Index /*i*/) const override { return extent_.length; }

  [[nodiscard]] Document document(Index i) const override {
    Document document;
    document.name = fmt::format("{}, document {}", arrays_->path().filename().string(), i);
    for (const StoredLayerNames& layer : layers_) {
      StoredLayer stored;
      stored.layer = layer.layer;
      if (layer.states) stored.states = matrix(at_layer("hidden_states", layer.layer), i);
      if (layer.projected) {
        stored.query = matrix(at_layer("queries", layer.layer), i);
        stored.key = matrix(at_layer("keys", layer.layer), i);
      }
      document.stored.push_back(std::move(stored));
    }
    const auto length = static_cast<std::size_t>(extent_.length);
    const std::size_t first = tokens_.size() > length ? static_cast<std::size_t>(i) * length : 0;
    if (!tokens_.empty())
      document.tokens.assign(tokens_.begin() + static_cast<std::ptrdiff_t>(first),
                             tokens_.begin() + static_cast<std::ptrdiff_t>(first + length));
    return document;
  }

  [[nodiscard]] Attributes provenance() const override {
    return {{"source", std::string("stored states")},
            {"source_file", arrays_->path().string()},
            {"source_sha256", sha256_list(arrays_->files())},
            {"documents", static_cast<std::int64_t>(extent_.documents)},
            {"length", static_cast<std::int64_t>(extent_.length)},
            {"special_tokens", std::string("not known: no token ids are stored")}};
  }

 private:
  [[nodiscard]] Matrix32 matrix(const std::string& name, Index i) const {
    const StoredArray array = extent_.single ? arrays_->read(name) : arrays_->read(name, i, 1);
    const MatrixView32 view(array.values.data(), extent_.length, array.shape.back());
    if (view.allFinite()) return view;
    throw FormatError(
        fmt::format("{} document {} holds NaN or infinite values; expected finite states", arrays_->called(name), i));
  }

  std::shared_ptr<const StoredArrays> arrays_;
  std::vector<StoredLayerNames> layers_;
  Extent extent_;
  Index stored_ = 0;
  std::vector<std::string> tokens_;
};

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
  std::optional<Index> heads, d_head;
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
  StatedAttention stated{stated_size(arrays, "num_heads"), stated_size(arrays, "head_dim"), {}, {}};
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
  // Attributes are often float32: seven digits.
  if (stated.scale && std::abs(*stated.scale - spec.score_scale) > 1e-6 * spec.score_scale)
    differs("score_scale", *stated.scale, spec.score_scale);
}

/// Every layer's queries and keys have the width of the first.
void require_width(Index& width, const StoredArrays& arrays, const std::string& name) {
  const Index came = extent_of(arrays, name).width;
  if (width == 0) width = came;
  if (came != width)
    throw FormatError(
        fmt::format("{} has width {}, queries or keys before it {}; expected heads * d_head in all of them",
                    arrays.called(name), came, width));
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
  Index width = 0;
  for (const StoredLayerNames& layer : layers) {
    if (layer.projected) {
      require_width(width, arrays, at_layer("queries", layer.layer));
      require_width(width, arrays, at_layer("keys", layer.layer));
      continue;
    }
    const Index d_model = extent_of(arrays, at_layer("hidden_states", layer.layer)).width;
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
  }
  if (heads < 1)
    throw ShapeError(
        fmt::format("{}: the number of heads is neither stored (attribute num_heads) nor given; say --head-count N",
                    arrays.path().string()));
  if (width % heads != 0)
    throw ShapeError(
        fmt::format("{}: {} heads do not divide queries of width {}", arrays.path().string(), heads, width));
  BlockSpec& block = model.stack.block;
  block.heads = block.kv_heads = heads;
  block.d_head = width / heads;
  if (stated.d_head && *stated.d_head != block.d_head)
    throw ShapeError(fmt::format("{}: {} heads make {} columns each, attribute 'head_dim' says {}",
                                 arrays.path().string(), heads, block.d_head, *stated.d_head));
  block.causal = stated.causal.value_or(false);
  block.score_scale = stated.scale.value_or(1.0 / std::sqrt(static_cast<double>(block.d_head)));
  model.storage = weights;
  return model;
}

}  // namespace

StoredInput stored_states(const std::filesystem::path& path, const StoredStatesOptions& options) {
  std::shared_ptr<const StoredArrays> arrays = open_stored_arrays(path, options.layer);
  std::vector<StoredLayerNames> layers = layers_of(*arrays);
  Model model = model_beside(*arrays, layers, options.heads);
  return {std::move(model), std::make_unique<StoredDocuments>(std::move(arrays), std::move(layers), options.documents)};
}

StoredInput stored_states(const std::filesystem::path& path, Model model, const StoredStatesOptions& options) {
  std::shared_ptr<const StoredArrays> arrays = open_stored_arrays(path, options.layer);
  std::vector<StoredLayerNames> layers = layers_of(*arrays);
  for (const StoredLayerNames& layer : layers) {
    if (!layer.projected && layer.layer >= model.stack.layers())
      throw ShapeError(
          fmt::format("{}: states that enter layer {}, but the model has the layers 0 to {}; are they from "
                      "this model?",
                      path.string(), layer.layer, model.stack.layers() - 1));
    if (!layer.states) continue;
    const Index width = extent_of(*arrays, at_layer("hidden_states", layer.layer)).width;
    if (width != model.stack.d_model())
      throw ShapeError(
          fmt::format("{}: states of layer {} have width {}, the model's states have {}; are they from this "
                      "model?",
                      path.string(), layer.layer, width, model.stack.d_model()));
  }
  require_same_attention(*arrays, model.stack.block);
  return {std::move(model), std::make_unique<StoredDocuments>(std::move(arrays), std::move(layers), options.documents)};
}

}  // namespace headwave
