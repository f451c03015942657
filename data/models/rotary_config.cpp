#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "../../core/errors/error.h"
#include "../files/printable.h"
#include "families.h"

namespace headwave {

namespace {

/// Yarn's factor on queries and keys: as given, or from the two mscales, or 0.1 ln s + 1.
/// Source: Peng et al. 2023, equation 22, with DeepSeek's mscale settings.
double yarn_attention_factor(const ModelConfig& scaling, double factor) {
  if (scaling.has("attention_factor")) return scaling.positive("attention_factor");
  const auto gain = [&](double mscale) { return factor <= 1 ? 1.0 : 0.1 * mscale * std::log(factor) + 1.0; };
  if (scaling.has("mscale") && scaling.has("mscale_all_dim"))
    return gain(scaling.positive("mscale")) / gain(scaling.positive("mscale_all_dim"));
  return gain(1.0);
}

void set_scaling(RotaryOptions& rotary, const ModelConfig& scaling, const ModelConfig& config) {
  const std::string type = scaling.text_or("rope_type", scaling.text_or("type", ""));
  if (type == "default" || (type.empty() && !scaling.has("factor"))) return;
  if (type == "linear")
    rotary.scaling = RotaryScaling::linear;
  else if (type == "dynamic")
    rotary.scaling = RotaryScaling::dynamic;
  else if (type == "llama3")
    rotary.scaling = RotaryScaling::llama3;
  else if (type == "yarn")
    rotary.scaling = RotaryScaling::yarn;
  else
    scaling.fail(fmt::format("rope type '{}' is not known; expected default, linear, dynamic, llama3 or yarn",
                             printable(type, 60)));
  rotary.factor = scaling.positive("factor");
  if (type == "linear") return;
  const auto trained_on = [&] { return static_cast<double>(config.size("max_position_embeddings")); };
  rotary.trained = trained_on();
  if (type == "dynamic") return;
  constexpr const char* original = "original_max_position_embeddings";
  if (scaling.has(original) && config.has(original) && scaling.size(original) != config.size(original))
    config.fail(fmt::format("'{}' is {} here and {} in the scaling; expected one number", original,
                            config.size(original), scaling.size(original)));
  rotary.trained = scaling.has(original)  ? static_cast<double>(scaling.size(original))
                   : config.has(original) ? static_cast<double>(config.size(original))
                                          : trained_on();
  if (type == "llama3") {
    rotary.low = scaling.positive("low_freq_factor");
    rotary.high = scaling.positive("high_freq_factor");
    if (rotary.high <= rotary.low) scaling.fail("'high_freq_factor' is not above 'low_freq_factor'");
    return;
  }
  rotary.fast = scaling.positive_or("beta_fast", 32);
  rotary.slow = scaling.positive_or("beta_slow", 1);
  rotary.whole_channels = scaling.flag_or("truncate", true);
  rotary.attention_factor = yarn_attention_factor(scaling, rotary.factor);
}

/// How many channels turn.
Index turning_channels(const ModelConfig& config, const ModelConfig* parameters, Index d_head, const RopeKeys& keys) {
  constexpr const char* key = "partial_rotary_factor";
  double share = config.positive_or(keys.share_key, keys.share);
  if (config.has(key)) share = config.positive(key);
  if (parameters != nullptr && parameters->has(key)) share = parameters->positive(key);
  if (share > 1 || (share != 1 && !keys.partial))
    throw FormatError(fmt::format("{}: '{}' is {}, which is not known here", config.place(), key, share),
                      give("map", "FILE.toml", "to say how many channels turn"));
  const auto channels = static_cast<Index>(static_cast<double>(d_head) * share);
  if (channels < 2 || channels % 2 != 0)
    config.fail(
        fmt::format("{} channels of heads of width {} cannot turn in pairs; rotary positions need an even number",
                    channels, d_head));
  return channels;
}

}  // namespace

RotaryOptions rotary_options(const ModelConfig& config, Index d_head, const RopeKeys& keys) {
  if (keys.width > 0) d_head = keys.width;
  RotaryOptions rotary;
  if (config.has("rope_parameters") && config.has("rope_scaling"))
    config.fail("both 'rope_parameters' and 'rope_scaling' are there; expected one of them, since they may differ");
  rotary.base = config.positive_or(keys.base_key, keys.base);
  if (!config.has("rope_parameters")) {
    rotary.channels = turning_channels(config, nullptr, d_head, keys);
    if (config.has("rope_scaling") && keys.scaled) set_scaling(rotary, config.object("rope_scaling"), config);
    return rotary;
  }
  const ModelConfig all = config.object("rope_parameters");
  if (!keys.group.empty() && !all.has(keys.group)) {
    rotary.channels = turning_channels(config, nullptr, d_head, keys);
    return rotary;
  }
  const ModelConfig parameters = !keys.group.empty() ? all.object(keys.group) : all;
  rotary.channels = turning_channels(config, &parameters, d_head, keys);
  rotary.base = parameters.positive_or("rope_theta", rotary.base);
  set_scaling(rotary, parameters, config);
  return rotary;
}

}  // namespace headwave
