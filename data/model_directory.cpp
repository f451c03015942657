#include "headwave/data/model_directory.h"

#include <memory>
#include <utility>

#include <fmt/format.h>

#include "headwave/core/error.h"
#include "headwave/data/digest.h"
#include "headwave/data/model_config.h"
#include "headwave/data/safetensors.h"

namespace headwave {

namespace {

/// Tensors of a checkpoint by the names that transformers gives them, whatever prefix stands before.
class Tensors {
 public:
  Tensors(std::shared_ptr<Checkpoint> checkpoint, const std::filesystem::path& directory)
      : checkpoint_(std::move(checkpoint)), directory_(directory) {
    for (const char* prefix : {"", "bert.", "roberta.", "model."})
      if (checkpoint_->has(prefix + std::string("embeddings.position_embeddings.weight")) ||
          checkpoint_->has(prefix + std::string("embeddings.word_embeddings.weight"))) {
        prefix_ = prefix;
        return;
      }
  }

  [[nodiscard]] MatrixView32 matrix(const std::string& name, Index rows, Index cols) const {
    return finite(checkpoint_->matrix(found(name), rows, cols), name);
  }
  [[nodiscard]] VectorView32 vector(const std::string& name, Index size) const {
    return finite(checkpoint_->vector(found(name), size), name);
  }
  [[nodiscard]] Linear linear(const std::string& name, Index out, Index in) const {
    return {matrix(name + ".weight", out, in), vector(name + ".bias", out)};
  }
  /// Old conversions from TensorFlow say gamma and beta for weight and bias.
  [[nodiscard]] LayerNorm norm(const std::string& name, Index size, float eps) const {
    const bool old = !checkpoint_->has(prefix_ + name + ".weight") && checkpoint_->has(prefix_ + name + ".gamma");
    return {vector(name + (old ? ".gamma" : ".weight"), size), vector(name + (old ? ".beta" : ".bias"), size), eps};
  }

 private:
  [[nodiscard]] std::string found(const std::string& name) const {
    if (checkpoint_->has(prefix_ + name)) return prefix_ + name;
    throw FormatError(
        fmt::format("{}: tensor '{}{}' is missing among {} tensors; `headwave inspect` lists what is there",
                    directory_.string(), prefix_, name, checkpoint_->names().size()));
  }

  template <class View>
  View finite(const View& view, const std::string& name) const {
    if (view.allFinite()) return view;
    throw FormatError(fmt::format("{}: tensor '{}{}' holds {} values that are NaN or infinite; expected finite weights",
                                  directory_.string(), prefix_, name, checkpoint_->non_finite(prefix_ + name)));
  }

  std::shared_ptr<Checkpoint> checkpoint_;
  std::filesystem::path directory_;
  std::string prefix_;
};

Block block_of(const Tensors& tensors, Index layer, const ModelConfig& config) {
  const ModelSpec& spec = config.spec;
  const std::string at = fmt::format("encoder.layer.{}.", layer);
  const Index heads_width = spec.heads * spec.d_head;
  return {tensors.linear(at + "attention.self.query", heads_width, spec.d_model),
          tensors.linear(at + "attention.self.key", heads_width, spec.d_model),
          tensors.linear(at + "attention.self.value", heads_width, spec.d_model),
          tensors.linear(at + "attention.output.dense", spec.d_model, heads_width),
          tensors.norm(at + "attention.output.LayerNorm", spec.d_model, config.norm_eps),
          tensors.linear(at + "intermediate.dense", spec.d_feed_forward, spec.d_model),
          tensors.linear(at + "output.dense", spec.d_model, spec.d_feed_forward),
          tensors.norm(at + "output.LayerNorm", spec.d_model, config.norm_eps)};
}

}  // namespace

Model open_model(const std::filesystem::path& model_directory) {
  const ModelConfig config = model_config(model_directory);
  const auto checkpoint = std::make_shared<Checkpoint>(model_directory);
  const Tensors tensors(checkpoint, model_directory);
  const ModelSpec& spec = config.spec;

  Model model;
  model.spec = spec;
  model.words = tensors.matrix("embeddings.word_embeddings.weight", spec.vocabulary, spec.d_model);
  model.positions = tensors.matrix("embeddings.position_embeddings.weight", config.position_rows, spec.d_model);
  model.token_types = tensors.matrix("embeddings.token_type_embeddings.weight", config.token_types, spec.d_model);
  model.embedding_norm = tensors.norm("embeddings.LayerNorm", spec.d_model, config.norm_eps);
  for (Index layer = 0; layer < spec.layers; ++layer) model.blocks.push_back(block_of(tensors, layer, config));
  model.storage = checkpoint;
  return model;
}

Matrix32 position_table(const std::filesystem::path& model_directory) {
  const Checkpoint checkpoint(model_directory);
  for (const char* name : {"embeddings.position_embeddings.weight", "bert.embeddings.position_embeddings.weight",
                           "roberta.embeddings.position_embeddings.weight", "wpe.weight", "transformer.wpe.weight"}) {
    if (!checkpoint.has(name)) continue;
    const std::vector<Index> shape = checkpoint.info(name).shape;
    if (shape.size() != 2)
      throw FormatError(fmt::format("{}: tensor '{}' has {} axes, expected (positions, d_model)",
                                    model_directory.string(), name, shape.size()));
    const MatrixView32 table = checkpoint.matrix(name, shape[0], shape[1]);
    if (std::string(name).ends_with("wpe.weight")) return table;
    const ModelConfig config = model_config(model_directory);
    if (shape[0] != config.position_rows)
      throw FormatError(fmt::format("{}: tensor '{}' has {} rows, config.json says {}", model_directory.string(), name,
                                    shape[0], config.position_rows));
    return table.middleRows(config.spec.first_position, config.spec.positions);
  }
  throw FormatError(fmt::format("{}: no position table among its {} tensors; expected a model with absolute positions",
                                model_directory.string(), checkpoint.names().size()));
}

Attributes model_provenance(const std::filesystem::path& model_directory) {
  const ModelConfig config = model_config(model_directory);
  Attributes provenance{{"model", model_directory.string()},
                        {"model_family", config.spec.family},
                        {"model_config_sha256", sha256_of_file(config.file)}};
  for (const std::filesystem::path& file : Checkpoint(model_directory).files())
    provenance["sha256 of " + file.filename().string()] = sha256_of_file(file);
  return provenance;
}

}  // namespace headwave
