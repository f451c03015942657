#include "stored_states.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "../../core/attention/finished_attention.h"
#include "../../core/errors/error.h"
#include "../../core/model/layer.h"
#include "../arrays/safetensors.h"
#include "../files/printable.h"
#include "found_arrays.h"
#include "state_documents.h"

namespace headwave {

namespace {

/// Whether attention looks only back, by its own rows.
bool is_causal(const Source& documents) {
  for (Index i = 0; i < documents.count(); ++i)
    if (documents.length(i) > 1) return looks_only_back(documents.document(i).stored.front().attention);
  return false;
}

/// The number of heads, which is the same in every layer.
Index heads_of(const StateFiles& files) {
  const std::vector<FoundLayer>& layers = files.contents().layers;
  const Index heads = files.extent(*layers.front().attention).width;
  for (const FoundLayer& layer : layers)
    if (const Index came = files.extent(*layer.attention).width; came != heads)
      throw FormatError(fmt::format("{} has {} heads, a layer before it {}; expected as many in all of them",
                                    files.called(*layer.attention), came, heads));
  return heads;
}

/// What is known of the model that computed finished attention: how many layers and heads it has, and which
/// way it looks. Where nothing says whether it is causal, the first rows of the first document of two tokens
/// or more do.
/// @param heads  as asked for; 0: as the file says
/// @throws FormatError if layers have different numbers of heads; ShapeError if another number was given
Model attention_model(const StateFiles& files, const Source& documents, const AttentionFacts& facts, Index heads) {
  Model model;
  model.family = "stored attention";
  model.stack.blocks.resize(static_cast<std::size_t>(files.contents().layers.back().layer + 1));
  BlockSpec& block = model.stack.block;
  block.heads = block.kv_heads = heads_of(files);
  for (const Index said : {heads, facts.heads.value_or(0)})
    if (said > 0 && said != block.heads)
      throw ShapeError(
          fmt::format("{}: finished attention of {} heads, but {} were given (as head_count, or by the "
                      "file's num_heads)",
                      shown_path(files.path()), block.heads, said));
  block.causal = facts.causal ? *facts.causal : is_causal(documents);
  block.window = facts.window.value_or(0);
  return model;
}

/// Refuses finished attention that the model cannot have computed.
/// @throws ShapeError if the model has other heads, fewer layers, or reads two sequences
void require_attention_of(const Model& model, const StateFiles& files) {
  if (model.decoder)
    throw ShapeError(
        fmt::format("{}: a {} is an encoder-decoder with three kinds of attention, and nothing says which this is",
                    shown_path(files.path()), model.family),
        omit("model"));
  if (const Index heads = heads_of(files); heads != model.stack.block.heads)
    throw ShapeError(fmt::format("{}: finished attention of {} heads, the model has {}; is it from this model?",
                                 shown_path(files.path()), heads, model.stack.block.heads));
  if (const Index last = files.contents().layers.back().layer; last >= model.stack.layers())
    throw ShapeError(
        fmt::format("{}: finished attention of layer {}, but the model has the layers 0 to {}; is it from this model?",
                    shown_path(files.path()), last, model.stack.layers() - 1));
}

/// Query and key projections beside the states, as (out, in).
struct StoredWeights {
  struct Projection {
    Matrix32 weight;
    Vector32 bias;
  };
  std::vector<Projection> query, key;  // one per layer, empty where nothing is stored
};

StoredWeights::Projection projection(const NamedArrays& arrays, const std::string& name, Index d_model) {
  const std::vector<Index> shape = arrays.shape(name);
  if (shape.size() != 2 || shape[0] != d_model)
    throw FormatError(fmt::format("{} has shape {}, expected (d_model, heads * d_head) with d_model {}, as the states",
                                  arrays.called(name), shape_text(shape), d_model));
  const std::vector<float> weight = arrays.floats(name);
  StoredWeights::Projection result{MatrixView32(weight.data(), shape[0], shape[1]).transpose(), {}};
  if (!arrays.has(name + "_bias")) return result;
  const std::vector<float> bias = arrays.floats(name + "_bias");
  if (static_cast<Index>(bias.size()) != result.weight.rows())
    throw FormatError(fmt::format("{} has {} entries, expected {}", arrays.called(name + "_bias"), bias.size(),
                                  result.weight.rows()));
  result.bias = VectorView32(bias.data(), result.weight.rows());
  return result;
}

/// Requires the same width of every layer.
void require_width(Index& width, const StateFiles& files, const LayerArray& part) {
  const Index came = files.extent(part).width;
  if (width == 0) width = came;
  if (came != width)
    throw FormatError(
        fmt::format("{} has width {}, that of a layer before it {}; expected heads * d_head in all of them",
                    files.called(part), came, width));
}

/// How many heads share the keys: keys are as wide as queries, or several heads read the same.
Index key_heads(const StateFiles& files, const BlockSpec& block, Index key_width) {
  const Index kv_heads = key_width / block.d_head;
  if (key_width % block.d_head != 0 || kv_heads < 1 || block.heads % kv_heads != 0)
    throw FormatError(
        fmt::format("{}: keys of width {} beside queries of {} heads x {}; expected as many heads of keys, "
                    "or a number that divides them",
                    files.path().string(), key_width, block.heads, block.d_head));
  return kv_heads;
}

/// The number of heads along the axis of heads that queries may have; 0: they have none.
/// @throws ShapeError if there are more heads than tokens: the axes may be in another order
Index heads_along(const StateFiles& files) {
  const std::optional<LayerArray>& queries = files.contents().layers.front().queries;
  if (!queries) return 0;
  const ArrayExtent extent = files.extent(*queries);
  if (extent.heads > extent.length)
    throw ShapeError(fmt::format("{} has {} heads of {} tokens, if its axes are ({})", files.called(*queries),
                                 extent.heads, extent.length, axes_text(queries->axes)),
                     give("head_count", std::to_string(extent.heads), "if so"));
  return extent.heads;
}

/// Requires as many heads along an axis of heads as attention has.
void require_heads(const StateFiles& files, const std::optional<LayerArray>& part, Index heads) {
  const Index came = part ? files.extent(*part).heads : 0;
  if (came > 0 && came != heads)
    throw ShapeError(
        fmt::format("{} has {} heads along its axes ({}), expected {} (as given, as num_heads of the file, or "
                    "the model's); are the axes in that order?",
                    files.called(*part), came, axes_text(part->axes), heads));
}

/// The name of a layer's weights: "weights/layer_1/query", or "layer_1_query" in a folder.
std::string weights_name(const NamedArrays& arrays, Index layer, const char* which) {
  const std::string tree = fmt::format("{}/{}", at_layer("weights", layer), which);
  return arrays.has(tree) ? tree : fmt::format("layer_{}_{}", layer, which);
}

/// A model that only makes queries and keys of the stored layers.
Model model_beside(const StateFiles& files, const AttentionFacts& facts, Index asked_heads) {
  const NamedArrays& arrays = files.arrays();
  const std::vector<FoundLayer>& layers = files.contents().layers;
  const Index given_heads = asked_heads > 0 ? asked_heads : facts.heads.value_or(0);
  const Index heads = given_heads > 0 ? given_heads : heads_along(files);
  const Index count = layers.back().layer + 1;
  auto weights = std::make_shared<StoredWeights>();
  weights->query.resize(static_cast<std::size_t>(count));
  weights->key.resize(static_cast<std::size_t>(count));
  Model model;
  model.family = "stored states";
  model.stack.blocks.resize(static_cast<std::size_t>(count));
  Index width = 0, key_width = 0;
  for (const FoundLayer& layer : layers) {
    if (layer.queries) {
      require_width(width, files, *layer.queries);
      require_width(key_width, files, *layer.keys);
      continue;
    }
    const Index d_model = files.extent(*layer.states).width;
    const auto l = static_cast<std::size_t>(layer.layer);
    const std::string query = weights_name(arrays, layer.layer, "query"),
                      key = weights_name(arrays, layer.layer, "key");
    if (!arrays.has(query) || !arrays.has(key))
      throw FormatError(fmt::format("{}: neither queries and keys nor weights of layer {} are stored",
                                    arrays.path().string(), layer.layer),
                        give("model", "DIR"));
    weights->query[l] = projection(arrays, query, d_model);
    weights->key[l] = projection(arrays, key, d_model);
    model.stack.blocks[l].self.query = {weights->query[l].weight, weights->query[l].bias};
    model.stack.blocks[l].self.key = {weights->key[l].weight, weights->key[l].bias};
    width = weights->query[l].weight.rows();
    key_width = weights->key[l].weight.rows();
  }
  if (heads < 1)
    throw ShapeError(fmt::format("{}: the number of heads is neither stored (attribute num_heads) nor given",
                                 arrays.path().string()),
                     give("head_count", "N"));
  for (const FoundLayer& layer : layers) require_heads(files, layer.queries, heads);
  if (width % heads != 0)
    throw ShapeError(
        fmt::format("{}: {} heads do not divide queries of width {}", arrays.path().string(), heads, width));
  BlockSpec& block = model.stack.block;
  block.heads = heads;
  block.d_head = width / heads;
  block.kv_heads = key_heads(files, block, key_width);
  for (const FoundLayer& layer : layers) require_heads(files, layer.keys, block.kv_heads);
  if (facts.d_head && *facts.d_head != block.d_head)
    throw ShapeError(fmt::format("{}: {} heads make {} columns each, attribute 'head_dim' says {}",
                                 arrays.path().string(), heads, block.d_head, *facts.d_head));
  block.causal = facts.causal.value_or(false);
  block.window = facts.window.value_or(0);
  block.score_scale = facts.scale.value_or(1.0 / std::sqrt(static_cast<double>(block.d_head)));
  model.storage = weights;
  return model;
}

ArraySearch search_of(const StoredStatesOptions& options) {
  if (options.layer && *options.layer < 0)
    throw ShapeError(fmt::format("the states enter layer {}, expected 0 or more", *options.layer));
  return {options.dataset, options.axes, options.layer};
}

std::shared_ptr<const StateFiles> opened(const ArraysPlace& at, const StoredStatesOptions& options) {
  auto files = std::make_shared<const StateFiles>(at, search_of(options));
  const std::optional<Index>& heads = files->facts().heads;
  if (options.heads > 0 && heads && *heads != options.heads)
    throw ShapeError(fmt::format("{}: num_heads is {}, but {} heads were given; expected the same, or one of them",
                                 at.path.string(), *heads, options.heads),
                     omit("head_count"));
  return files;
}

bool is_attention(const StateFiles& files) {
  return files.contents().layers.front().attention.has_value();
}

/// The norm whose output a layer's projections read; empty: none.
Norm norm_entering(const Stack& stack, Index layer) {
  if (stack.block.norm_place != NormPlace::post) return stack.blocks[static_cast<std::size_t>(layer)].self_norm;
  if (layer > 0) return stack.blocks[static_cast<std::size_t>(layer) - 1].feed_forward_norm;
  return stack.embedding.projection.empty() ? stack.embedding.norm : Norm();
}

/// Requires states that are the norm's output, or, where the norm is to be applied, are not.
/// @throws FormatError if they are of the other kind
void require_kind(const Matrix32& states, const Norm& norm, Index layer, const std::string& called, bool raw,
                  bool post) {
  constexpr double enough = 0.95;
  const double share = share_from_norm(states, norm);
  if (raw && share > enough)
    throw FormatError(fmt::format("{} is already what the norm before layer {}'s attention gives", called, layer),
                      omit("apply_norm"));
  if (raw || share >= enough) return;
  std::vector<Remedy> remedies{give("any_states", "", "to take states that were changed on purpose")};
  if (!post) remedies.insert(remedies.begin(), give("apply_norm", "", "if these are raw residual states"));
  throw FormatError(
      fmt::format("{} is not what the norm before layer {}'s attention gives: (x - shift) / scale has mean "
                  "0 and variance 1 over the width in {:.1f} % of the rows, expected {:g} % or more{}",
                  called, layer, 100 * share, 100 * enough,
                  post ? "; are they of another layer, or from before the norm?" : ""),
      std::move(remedies));
}

/// Refuses states that no norm gave, or normalises raw states of a pre-norm model if that was asked for.
StatesChange norm_of(const Model& model, const StoredStatesOptions& options) {
  const bool post = model.stack.block.norm_place == NormPlace::post;
  if (post && options.apply_norm)
    throw ShapeError(fmt::format("a {} normalises after its layers: what enters them is taken as it is", model.family),
                     omit("apply_norm"));
  std::vector<Norm> norms;
  for (Index layer = 0; layer < model.stack.layers(); ++layer) norms.push_back(norm_entering(model.stack, layer));
  return [storage = model.storage, norms, post, apply = options.apply_norm, any = options.any_states](
             Matrix32& states, Index layer, const std::string& called) {
    const Norm& norm = norms[static_cast<std::size_t>(layer)];
    if (norm.empty()) return;
    if (!any) require_kind(states, norm, layer, called, apply, post);
    if (apply) normalise(states, norm);
  };
}

/// The stored layers that enter one of the model's. States after the last layer enter none; programs that
/// store every state have them too.
/// @throws ShapeError if layers 1 to `count` are stored: they are numbered from 1
std::span<const FoundLayer> entering(const StateFiles& files, Index count) {
  const std::vector<FoundLayer>& layers = files.contents().layers;
  const bool one_more =
      layers.size() > 1 && layers.back().layer == count && layers.back().states && !layers.back().queries;
  if (one_more && layers.front().layer == 1 && static_cast<Index>(layers.size()) == count)
    throw ShapeError(
        fmt::format("{}: states of layers 1 to {}, of a model with the layers 0 to {}; expected no states "
                    "after the last layer unless those of layer 0 are there; if they are numbered from 1, "
                    "rename them",
                    files.path().string(), count, count - 1));
  return std::span(layers).first(layers.size() - (one_more ? 1 : 0));
}

}  // namespace

StoredInput stored_states(const ArraysPlace& at, const StoredStatesOptions& options) {
  const std::filesystem::path& path = at.path;
  std::shared_ptr<const StateFiles> files = opened(at, options);
  if (options.apply_norm)
    throw ShapeError(fmt::format("{}: the norm to be applied is the model's, and none was given", path.string()),
                     {give("model", "DIR"), omit("apply_norm")});
  const std::size_t layers = files->contents().layers.size();
  if (is_attention(*files)) {
    std::unique_ptr<Source> documents = state_documents(files, layers, options.documents, {});
    Model model = attention_model(*files, *documents, files->facts(), options.heads);
    return {std::move(model), std::move(documents)};
  }
  Model model = model_beside(*files, files->facts(), options.heads);
  return {std::move(model), state_documents(std::move(files), layers, options.documents, {})};
}

StoredInput stored_states(const ArraysPlace& at, Model model, const StoredStatesOptions& options) {
  const std::filesystem::path& path = at.path;
  std::shared_ptr<const StateFiles> files = opened(at, options);
  if (is_attention(*files)) {
    if (options.apply_norm || options.any_states)
      throw ShapeError(fmt::format("{}: finished attention has no states that a norm could have given", path.string()),
                       omit(options.apply_norm ? "apply_norm" : "any_states"));
    require_attention_of(model, *files);
    require_same_attention(path, files->facts(), model.stack.block);
    const std::size_t count = files->contents().layers.size();
    return {std::move(model), state_documents(std::move(files), count, options.documents, {})};
  }
  model.decoder.reset();
  const auto layers = entering(*files, model.stack.layers());
  for (const FoundLayer& layer : layers) {
    if (!layer.queries && layer.layer >= model.stack.layers())
      throw ShapeError(
          fmt::format("{}: states that enter layer {}, but the model has the layers 0 to {}; are they from "
                      "this model?",
                      path.string(), layer.layer, model.stack.layers() - 1),
          give("axes", "AXES", "if the axes are in another order"));
    if (!layer.states) continue;
    const Index width = files->extent(*layer.states).width;
    if (width != model.stack.d_model())
      throw ShapeError(
          fmt::format("{}: states of layer {} have width {}, the model's states have {}; are they from this "
                      "model?",
                      path.string(), layer.layer, width, model.stack.d_model()));
  }
  require_same_attention(path, files->facts(), model.stack.block);
  for (const FoundLayer& layer : layers) {
    require_heads(*files, layer.queries, model.stack.block.heads);
    require_heads(*files, layer.keys, model.stack.block.kv_heads);
  }
  if (model.stack.rotary() != nullptr && layers.front().queries && files->facts().turned.value_or(false))
    throw ShapeError(
        fmt::format("{}: its queries and keys are turned already (attribute 'turned'), and the model would "
                    "turn them again",
                    path.string()),
        omit("model"));
  StatesChange change = norm_of(model, options);
  const std::size_t count = layers.size();
  const Index words = model.stack.embedding.words.rows();
  return {std::move(model), state_documents(std::move(files), count, options.documents, std::move(change), words)};
}

}  // namespace headwave
