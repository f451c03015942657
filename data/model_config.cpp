#include "headwave/data/model_config.h"

#include <array>
#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "headwave/core/error.h"
#include "headwave/data/json_file.h"
#include "headwave/data/printable.h"

namespace headwave {

namespace {

using nlohmann::json;

/// No size in a real model comes near this; products of two still fit an Index.
constexpr std::int64_t largest_size = 1 << 26;

/// A config.json with the questions that are asked of it.
class Config {
 public:
  explicit Config(std::filesystem::path file) : file_(std::move(file)), json_(json_of_file(file_)) {
    if (!json_.is_object()) fail("expected an object of settings, found another JSON value");
  }

  [[noreturn]] void fail(const std::string& what) const {
    throw FormatError(fmt::format("{}: {}", file_.string(), what));
  }

  [[nodiscard]] bool has(const char* key) const { return json_.contains(key) && !json_.at(key).is_null(); }

  [[nodiscard]] Index size(const char* key, Index least = 1) const {
    if (!has(key)) fail(fmt::format("'{}' is missing; expected a whole number of at least {}", key, least));
    const json& value = json_.at(key);
    if (!value.is_number_integer()) fail(fmt::format("'{}' is {}, expected a whole number", key, shown(value)));
    const bool fits = value.is_number_unsigned()
                          ? value.get<std::uint64_t>() <= static_cast<std::uint64_t>(largest_size)
                          : value.get<std::int64_t>() <= largest_size;
    if (!fits || value.get<std::int64_t>() < least)
      fail(fmt::format("'{}' is {}, expected {} to {}", key, shown(value), least, largest_size));
    return value.get<Index>();
  }

  [[nodiscard]] Index size_or(const char* key, Index otherwise, Index least = 1) const {
    return has(key) ? size(key, least) : otherwise;
  }

  [[nodiscard]] double positive(const char* key, double otherwise) const {
    if (!has(key)) return otherwise;
    const json& value = json_.at(key);
    if (!value.is_number()) fail(fmt::format("'{}' is {}, expected a number", key, shown(value)));
    const double number = value.get<double>();
    if (!std::isfinite(number) || number <= 0)
      fail(fmt::format("'{}' is {}, expected a number above 0", key, shown(value)));
    return number;
  }

  [[nodiscard]] std::string text(const char* key, const std::string& otherwise) const {
    if (!has(key)) return otherwise;
    if (!json_.at(key).is_string()) fail(fmt::format("'{}' is {}, expected text", key, shown(json_.at(key))));
    return json_.at(key).get<std::string>();
  }

  [[nodiscard]] bool flag(const char* key) const {
    if (!has(key)) return false;
    if (!json_.at(key).is_boolean()) fail(fmt::format("'{}' is {}, expected true or false", key, shown(json_.at(key))));
    return json_.at(key).get<bool>();
  }

  /// model_type, or what the first entry of "architectures" begins with.
  [[nodiscard]] std::string family() const {
    if (has("model_type")) return text("model_type", "");
    if (has("architectures") && json_.at("architectures").is_array() && !json_.at("architectures").empty() &&
        json_.at("architectures").front().is_string()) {
      const auto name = json_.at("architectures").front().get<std::string>();
      if (name.starts_with("Roberta")) return "roberta";
      if (name.starts_with("Bert")) return "bert";
      return name;
    }
    fail("neither 'model_type' nor 'architectures' says which kind of model this is");
  }

 private:
  static std::string shown(const json& value) { return printable(value.dump(), 60); }

  std::filesystem::path file_;
  json json_;
};

Activation activation_of(const Config& config) {
  const std::string name = config.text("hidden_act", "gelu");
  if (name == "gelu") return Activation::gelu;
  if (name == "gelu_new" || name == "gelu_pytorch_tanh" || name == "gelu_fast") return Activation::gelu_tanh;
  if (name == "relu") return Activation::relu;
  config.fail(fmt::format("'hidden_act' is '{}', expected gelu, gelu_new, gelu_pytorch_tanh, gelu_fast or relu",
                          printable(name, 60)));
}

}  // namespace

ModelConfig model_config(const std::filesystem::path& model_directory) {
  const std::filesystem::path file = model_directory / "config.json";
  if (!std::filesystem::is_directory(model_directory))
    throw IoError(fmt::format("{}: not a directory; expected a model directory with config.json and model.safetensors",
                              model_directory.string()));
  if (!std::filesystem::exists(file))
    throw IoError(fmt::format("{}: not found; expected a Hugging Face model directory", file.string()));
  const Config config(file);
  const std::string family = config.family();
  if (family != "bert" && family != "roberta")
    config.fail(fmt::format("model type '{}' is not known; headwave reads bert and roberta", printable(family, 60)));

  const std::string positions = config.text("position_embedding_type", "absolute");
  if (positions != "absolute")
    config.fail(fmt::format("'position_embedding_type' is '{}', expected absolute", printable(positions, 60)));
  if (config.flag("is_decoder") || config.flag("add_cross_attention"))
    config.fail("'is_decoder' or 'add_cross_attention' is true, expected an encoder");

  ModelConfig result;
  ModelSpec& spec = result.spec;
  spec.family = family;
  spec.layers = config.size("num_hidden_layers");
  spec.d_model = config.size("hidden_size");
  spec.heads = config.size("num_attention_heads");
  if (spec.d_model % spec.heads != 0)
    config.fail(
        fmt::format("'num_attention_heads' is {}, which does not divide 'hidden_size' {}", spec.heads, spec.d_model));
  spec.d_head = spec.d_model / spec.heads;
  spec.d_feed_forward = config.size("intermediate_size");
  spec.vocabulary = config.size("vocab_size");
  spec.activation = activation_of(config);
  result.position_rows = config.size("max_position_embeddings");
  // fairseq counts positions from padding_idx + 1: the rows before belong to no token.
  spec.first_position = family == "roberta" ? config.size_or("pad_token_id", 1, 0) + 1 : 0;
  spec.positions = result.position_rows - spec.first_position;
  if (spec.positions < 1)
    config.fail(fmt::format("'max_position_embeddings' is {}, expected more than the {} rows before token 0's",
                            result.position_rows, spec.first_position));
  result.token_types = config.size_or("type_vocab_size", 2);
  result.norm_eps = static_cast<float>(config.positive("layer_norm_eps", 1e-12));
  result.file = file;
  return result;
}

}  // namespace headwave
