#include "families.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "../../core/errors/error.h"
#include "../files/printable.h"
#include "resolved_map.h"

namespace headwave {

std::vector<std::string> known_families() {
  std::vector<std::string> names;
  for (const FamilyFile& file : family_files()) names.emplace_back(file.family);
  return names;
}

namespace {

/// Refuses quantised weights other than MXFP4.
void refuse_quantised(const ModelConfig& config) {
  if (!config.has("quantization_config")) return;
  const ModelConfig quantisation = config.object("quantization_config");
  (void)quantisation.has("modules_to_not_convert");  // follows from which tensors exist
  const std::string method = quantisation.text("quant_method", "an unnamed method");
  if (method != "mxfp4")
    config.fail(
        fmt::format("'quantization_config' says that weights are quantised by '{}', which is not read here; give a "
                    "checkpoint of floating-point weights, or of mxfp4",
                    printable(method, 60)));
}

}  // namespace

ModelMap family_map(const ModelConfig& config, const HasTensor& has) {
  const bool typed = config.has("model_type");
  const std::string called = typed ? config.text("model_type", "") : config.architecture();
  if (called.empty()) config.fail("neither 'model_type' nor 'architectures' says which kind of model this is");
  const std::string family = typed ? called : family_of_class(called);
  const std::vector<std::string> known = known_families();
  const auto is_known = [&](const std::string& name) { return std::ranges::find(known, name) != known.end(); };
  // A model that also reads images or sounds is read as its text part, if that is of a known family.
  constexpr const char* text_part = "text_config";
  if (!is_known(family) && config.has(text_part)) {
    const ModelConfig text = config.object(text_part);
    if (is_known(text.text("model_type", ""))) {
      refuse_quantised(config);
      config.leave_all_but(text_part);
      ModelMap map = family_map(text, has);
      map.reason = fmt::format("config.json says that the text part of a '{}' has model_type '{}'", family, map.family);
      return map;
    }
  }
  if (!is_known(family))
    throw FormatError(
        fmt::format("{}: model type '{}' is not known; headwave reads {}. Attention of any model of PyTorch "
                    "can be watched in Python: headwave.watch (docs/profiles.md)",
                    config.place(), printable(called, 60), fmt::join(known, ", ")),
        give("map", "FILE.toml", "to say what its tensors are"));
  refuse_quantised(config);
  const toml::table file = family_file(family, config.place());
  const ModelFacts facts{[&]() -> const ModelConfig& { return config; }, has};
  ModelMap map = model_map_of(file, facts, config.place());
  ask_for_all(file, config);
  map.family = family;
  map.reason = fmt::format("config.json says {} '{}'", typed ? "model_type" : "architectures", family);
  return map;
}

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

/// The type of scaling. Its key was "type" before transformers 4.45.
std::string rope_type(const ModelConfig& scaling) {
  return scaling.text("rope_type", scaling.text("type", ""));
}

/// The length that the model was trained on, stated in the scaling or beside it.
double trained_length(const ModelConfig& scaling, const ModelConfig& config) {
  constexpr const char* original = "original_max_position_embeddings";
  if (scaling.has(original) && config.has(original) && scaling.size(original) != config.size(original))
    config.fail(fmt::format("'{}' is {} here, but {} in the rope settings; expected the same number", original,
                            config.size(original), scaling.size(original)));
  if (scaling.has(original)) return static_cast<double>(scaling.size(original));
  return static_cast<double>(config.size(config.has(original) ? original : "max_position_embeddings"));
}

/// Reads one factor for each pair of channels. Unless attention_factor is given, it is sqrt(1 + ln s / ln M),
/// where s is the largest length divided by the trained length M.
void set_longrope(RotaryOptions& rotary, const ModelConfig& scaling, const ModelConfig& config) {
  rotary.short_factors = scaling.numbers("short_factor");
  rotary.long_factors = scaling.numbers("long_factor");
  for (const auto* factors : {&rotary.short_factors, &rotary.long_factors}) {
    if (std::ssize(*factors) != rotary.channels / 2)
      scaling.fail(fmt::format("longrope has {} factors, expected {}, one per pair of rotary channels", factors->size(),
                               rotary.channels / 2));
    if (std::ranges::any_of(*factors, [](double factor) { return factor <= 0; }))
      scaling.fail("a factor of longrope is not positive; expected all above 0");
  }
  rotary.trained = trained_length(scaling, config);
  const double longer = scaling.has("factor")
                            ? scaling.positive("factor")
                            : static_cast<double>(config.size("max_position_embeddings")) / rotary.trained;
  const double usual = longer <= 1 ? 1.0 : std::sqrt(1 + std::log(longer) / std::log(rotary.trained));
  rotary.attention_factor = scaling.positive_or("attention_factor", usual);
}

/// Reads the share of pairs that turn. (`channels` are all channels of a head here.)
void set_proportional(RotaryOptions& rotary, const ModelConfig& scaling, const ModelConfig& config) {
  constexpr const char* key = "partial_rotary_factor";
  rotary.factor = scaling.positive_or("factor", 1);
  rotary.share = scaling.has(key) ? scaling.positive(key) : config.positive_or(key, 1);
}

constexpr std::pair<std::string_view, RotaryScaling> rope_types[]{
    // NOLINT(modernize-avoid-c-arrays): its length is its own
    {"linear", RotaryScaling::linear},
    {"dynamic", RotaryScaling::dynamic},
    {"llama3", RotaryScaling::llama3},
    {"yarn", RotaryScaling::yarn},
    {"longrope", RotaryScaling::longrope},
    {"su", RotaryScaling::longrope},  // name in the first of these models
    {"proportional", RotaryScaling::proportional}};

void set_scaling(RotaryOptions& rotary, const ModelConfig& scaling, const ModelConfig& config) {
  const std::string type = rope_type(scaling);
  if (type == "default" || (type.empty() && !scaling.has("factor"))) return;
  const auto* found =
      std::ranges::find(rope_types, std::string_view(type), &std::pair<std::string_view, RotaryScaling>::first);
  if (found == std::end(rope_types))
    scaling.fail(fmt::format(
        "rope type '{}' is not known; expected default, linear, dynamic, llama3, yarn, longrope or proportional",
        printable(type, 60)));
  rotary.scaling = found->second;
  if (rotary.scaling == RotaryScaling::longrope) return set_longrope(rotary, scaling, config);
  if (rotary.scaling == RotaryScaling::proportional) return set_proportional(rotary, scaling, config);
  rotary.factor = scaling.positive("factor");
  if (type == "linear") return;
  if (type == "dynamic") {
    rotary.trained = static_cast<double>(config.size("max_position_embeddings"));
    return;
  }
  rotary.trained = trained_length(scaling, config);
  if (type == "llama3") {
    rotary.low = scaling.positive("low_freq_factor");
    rotary.high = scaling.positive("high_freq_factor");
    if (rotary.high < rotary.low)
      scaling.fail("'high_freq_factor' is below 'low_freq_factor'; expected at least as much");
    return;
  }
  rotary.fast = scaling.positive_or("beta_fast", 32);
  rotary.slow = scaling.positive_or("beta_slow", 1);
  rotary.whole_channels = scaling.flag("truncate", true);
  rotary.attention_factor = yarn_attention_factor(scaling, rotary.factor);
}

/// How many channels of a head turn.
Index turning_channels(const ModelConfig& config, const ModelConfig* parameters, Index d_head, const RopeKeys& keys) {
  constexpr const char* key = "partial_rotary_factor";
  double share = config.positive_or(keys.share_key, keys.share);
  if (config.has(key)) share = config.positive(key);
  if (parameters != nullptr && parameters->has(key)) share = parameters->positive(key);
  // In proportional scaling it is a share of the pairs, each of which keeps its own frequency.
  if (parameters != nullptr && rope_type(*parameters) == "proportional" && share <= 1) share = 1;
  if (share > 1 || (share != 1 && !keys.partial))
    throw FormatError(fmt::format("{}: '{}' is {}, expected {}", config.place(), key, share,
                                  keys.partial ? "at most 1" : "1 in this family"),
                      give("map", "FILE.toml", "to say how many channels turn"));
  const auto channels = static_cast<Index>(static_cast<double>(d_head) * share);
  if (channels < 2 || channels % 2 != 0)
    config.fail(
        fmt::format("{} of the {} channels of a head are to rotate in pairs; expected an even number of at least 2",
                    channels, d_head));
  return channels;
}

}  // namespace

RotaryOptions rotary_options(const ModelConfig& config, Index d_head, const RopeKeys& keys) {
  if (keys.width > 0) d_head = keys.width;
  RotaryOptions rotary;
  if (config.has("rope_parameters") && config.has("rope_scaling"))
    config.fail("both 'rope_parameters' and 'rope_scaling' are given, and they may differ; expected only one");
  rotary.base = config.positive_or(keys.base_key, keys.base);
  if (!config.has("rope_parameters")) {
    const bool scaled = config.has("rope_scaling") && keys.scaled;
    const std::optional<ModelConfig> scaling = scaled ? std::optional(config.object("rope_scaling")) : std::nullopt;
    rotary.channels = turning_channels(config, scaling ? &*scaling : nullptr, d_head, keys);
    if (scaling) set_scaling(rotary, *scaling, config);
    return rotary;
  }
  const ModelConfig all = config.object("rope_parameters");
  // If layers differ, each kind may have a group. Otherwise one group serves all, and only some are scaled.
  const bool grouped = !keys.group.empty() && all.has(keys.group);
  const bool one_for_all = !keys.group.empty() && !grouped;
  if (one_for_all && !all.has("rope_type") && !all.has("rope_theta")) {
    rotary.channels = turning_channels(config, nullptr, d_head, keys);
    return rotary;
  }
  const ModelConfig parameters = grouped ? all.object(keys.group) : all;
  rotary.channels = turning_channels(config, &parameters, d_head, keys);
  if (!one_for_all || keys.base_key == "rope_theta") rotary.base = parameters.positive_or("rope_theta", rotary.base);
  if (!one_for_all || keys.scaled) set_scaling(rotary, parameters, config);
  return rotary;
}

}  // namespace headwave
