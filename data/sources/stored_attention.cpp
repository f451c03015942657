#include "stored_attention.h"

#include <fmt/format.h>

#include "../../core/attention/finished_attention.h"
#include "../../core/errors/error.h"
#include "../files/printable.h"

namespace headwave {

namespace {

/// Which way attention looks, from its own rows.
bool is_causal(const Source& documents) {
  for (Index i = 0; i < documents.count(); ++i)
    if (documents.length(i) > 1) return looks_only_back(documents.document(i).stored.front().attention);
  return false;
}

/// How many heads every layer has.
Index heads_of(const StoredPlace& place) {
  const std::vector<StoredLayerParts>& layers = place.contents().layers;
  const Index heads = place.extent(*layers.front().attention).width;
  for (const StoredLayerParts& layer : layers)
    if (const Index came = place.extent(*layer.attention).width; came != heads)
      throw FormatError(fmt::format("{} has {} heads, a layer before it {}; expected as many in all of them",
                                    place.called(*layer.attention), came, heads));
  return heads;
}

}  // namespace

Model attention_model(const StoredPlace& place, const Source& documents, const StatedAttention& stated, Index heads) {
  Model model;
  model.family = "stored attention";
  model.stack.blocks.resize(static_cast<std::size_t>(place.contents().layers.back().layer + 1));
  BlockSpec& block = model.stack.block;
  block.heads = block.kv_heads = heads_of(place);
  for (const Index said : {heads, stated.heads.value_or(0)})
    if (said > 0 && said != block.heads)
      throw ShapeError(
          fmt::format("{}: finished attention of {} heads, but {} were given (as head_count, or by the "
                      "file's num_heads)",
                      shown_path(place.path()), block.heads, said));
  block.causal = stated.causal ? *stated.causal : is_causal(documents);
  block.window = stated.window.value_or(0);
  return model;
}

void require_attention_of(const Model& model, const StoredPlace& place) {
  if (model.decoder)
    throw ShapeError(
        fmt::format("{}: a {} is an encoder-decoder with three kinds of attention, and nothing says which this is",
                    shown_path(place.path()), model.family),
        omit("model"));
  if (const Index heads = heads_of(place); heads != model.stack.block.heads)
    throw ShapeError(fmt::format("{}: finished attention of {} heads, the model has {}; is it from this model?",
                                 shown_path(place.path()), heads, model.stack.block.heads));
  if (const Index last = place.contents().layers.back().layer; last >= model.stack.layers())
    throw ShapeError(
        fmt::format("{}: finished attention of layer {}, but the model has the layers 0 to {}; is it from this model?",
                    shown_path(place.path()), last, model.stack.layers() - 1));
}

}  // namespace headwave
