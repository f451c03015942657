// Encoders of images: ViT, and DeiT, which has a distillation token beside the class token.

#include <tuple>

#include <fmt/format.h>

#include "model_family.h"

namespace headwave {

namespace {

/// What 'image_size', 'patch_size' and 'num_channels' say.
PatchGrid patch_grid(const ModelConfig& config, Index opening) {
  const auto [image_height, image_width] = config.sides("image_size", 224);
  PatchGrid grid;
  std::tie(grid.height, grid.width) = config.sides("patch_size", 16);
  grid.first = opening;
  // Where a patch does not divide the image the convolution leaves the rest out, and so would a smaller image.
  if (image_height % grid.height != 0 || image_width % grid.width != 0)
    config.fail(fmt::format("'image_size' is {} x {}, which patches of {} x {} do not divide", image_height,
                            image_width, grid.height, grid.width));
  grid.rows = image_height / grid.height;
  grid.columns = image_width / grid.width;
  grid.channels = config.size_or("num_channels", 3);
  return grid;
}

/// Names of before transformers 5, which it still writes, and its own since.
void set_layer_names(StackMap& stack, const std::string& prefix, bool qkv_bias, const HasTensor& has) {
  const bool old = !has(prefix + "layers.0.layernorm_before.weight");
  const std::string at = prefix + (old ? "encoder.layer.{layer}." : "layers.{layer}.");
  const std::string attention = at + (old ? "attention.attention." : "attention.");
  const auto projection = [&](const char* before, const char* since) {
    const std::string name = attention + (old ? before : since);
    return qkv_bias ? weight_and_bias(name) : weight_alone(name);
  };
  stack.self = {projection("query", "q_proj"), projection("key", "k_proj"), projection("value", "v_proj"),
                weight_and_bias(at + (old ? "attention.output.dense" : "attention.o_proj"))};
  stack.self_norm = weight_and_bias(at + "layernorm_before");
  stack.feed_forward_norm = weight_and_bias(at + "layernorm_after");
  stack.widen = weight_and_bias(at + (old ? "intermediate.dense" : "mlp.fc1"));
  stack.narrow = weight_and_bias(at + (old ? "output.dense" : "mlp.fc2"));
}

}  // namespace

ModelMap vit_map(const ModelConfig& config, const HasTensor& has) {
  const bool deit = config.family() == "deit";
  const std::string prefix = prefix_before({"", deit ? "deit." : "vit."}, {"embeddings.cls_token"}, has);

  ModelMap map;
  StackMap& stack = map.stack;
  stack.layers = config.size_or("num_hidden_layers", 12);
  stack.d_model = config.size_or("hidden_size", 768);
  stack.d_feed_forward = config.size_or("intermediate_size", 3072);
  stack.norm_eps = static_cast<float>(config.positive_or("layer_norm_eps", 1e-12));
  stack.block.norm_place = NormPlace::pre;
  stack.block.activation = config.activation("hidden_act", "gelu");
  set_heads(stack, config, "num_attention_heads", "head_dim", 0);

  ImageMap& image = stack.image;
  image.opening = {prefix + "embeddings.cls_token"};
  if (deit) image.opening.push_back(prefix + "embeddings.distillation_token");
  image.grid = patch_grid(config, static_cast<Index>(image.opening.size()));
  image.projection = weight_and_bias(prefix + "embeddings.patch_embeddings.projection");
  stack.positions.kind = PositionKind::table;
  stack.positions.table = prefix + "embeddings.position_embeddings";
  stack.positions.rows = image.grid.positions();
  set_layer_names(stack, prefix, config.flag_or("qkv_bias", true), has);
  stack.final_norm = weight_and_bias(prefix + "layernorm");

  map.longest = stack.positions.rows;
  // A classifier of DeiT's teacher reads the distillation token; scores are the mean of both.
  if (has("cls_classifier.weight"))
    map.classifiers = {"cls_classifier", "distillation_classifier"};
  else if (has("classifier.weight"))
    map.classifiers = {"classifier"};
  map.ignored = {"*embeddings.mask_token"};
  return map;
}

}  // namespace headwave
