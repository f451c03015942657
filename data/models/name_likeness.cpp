#include "name_likeness.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include <nlohmann/json.hpp>

#include "../../core/errors/error.h"
#include "model_family.h"
#include "model_map_keys.h"

namespace headwave {

namespace {

/// Enough for every family to describe a block: sizes under all their names, all else as it usually is.
const nlohmann::json& usual_settings() {
  static const nlohmann::json settings = [] {
    nlohmann::json all{{"rotary_dim", 2},
                       {"activation_function", "gelu"},
                       {"feed_forward_proj", "relu"},
                       {"relative_attention", true},
                       {"pos_att_type", "c2p|p2c"},
                       {"position_biased_input", false},
                       {"word_embed_proj_dim", 32},
                       {"embedding_size", 32},
                       {"d_kv", 16},
                       {"use_sliding_window", false}};
    for (const char* key : {"num_hidden_layers", "n_layer", "n_layers", "num_layers", "encoder_layers",
                            "decoder_layers", "num_attention_heads", "n_head", "n_heads", "num_heads",
                            "encoder_attention_heads", "decoder_attention_heads", "num_key_value_heads"})
      all[key] = 2;
    for (const char* key : {"hidden_size", "n_embd", "dim", "d_model", "vocab_size", "intermediate_size", "hidden_dim",
                            "n_inner", "ffn_dim", "encoder_ffn_dim", "decoder_ffn_dim", "d_ff"})
      all[key] = 32;
    for (const char* key : {"max_position_embeddings", "n_positions", "relative_attention_num_buckets",
                            "relative_attention_max_distance"})
      all[key] = 32;
    return all;
  }();
  return settings;
}

/// The names in a map, asked for as its file's keys are.
class NameCollector {
 public:
  explicit NameCollector(std::set<std::string>& names) : names_(names) {}

  void operator()(std::string_view /*key*/, const TensorNames& value) {
    add(value.weight);
    add(value.bias);
  }
  void operator()(std::string_view /*key*/, const std::string& value) { add(value); }
  template <class Value, class... Words>
  void operator()(std::string_view /*key*/, const Value& /*value*/, const Words&... /*words*/) {}
  template <class Value>
  void usual(std::string_view /*key*/, const Value& /*value*/, Value /*usual*/) {}
  template <class Visit>
  void table(std::string_view /*key*/, const Visit& visit) {
    visit(*this);
  }

 private:
  void add(const std::string& name);

  std::set<std::string>& names_;
};

/// A name with "{layer}" in the place of its first number.
std::string without_layer(const std::string& name) {
  if (name.find("{layer}") != std::string::npos) return name;
  for (std::size_t at = 0; at < name.size();) {
    const std::size_t dot = std::min(name.find('.', at), name.size());
    const std::string_view part = std::string_view(name).substr(at, dot - at);
    if (!part.empty() && std::ranges::all_of(part, [](char c) { return c >= '0' && c <= '9'; }))
      return name.substr(0, at) + "{layer}" + name.substr(dot);
    at = dot + 1;
  }
  return name;
}

void NameCollector::add(const std::string& name) {
  if (!name.empty()) names_.insert(without_layer(name));
}

std::set<std::string> names_of(ModelMap map) {
  std::set<std::string> names;
  NameCollector collector(names);
  visit_stack(collector, map.stack);
  if (map.decoder) visit_stack(collector, *map.decoder);
  visit_prediction(collector, map.prediction);
  return names;
}

/// The word that most names begin with, and its dot.
std::string common_beginning(const std::vector<std::string>& tensors) {
  std::map<std::string, std::size_t> count;
  for (const std::string& name : tensors)
    if (const std::size_t dot = name.find('.'); dot != std::string::npos) ++count[name.substr(0, dot + 1)];
  const auto most = std::ranges::max_element(count, {}, [](const auto& entry) { return entry.second; });
  return most == count.end() || 2 * most->second < tensors.size() ? "" : most->first;
}

/// Of families that call their tensors the same, the one that the others are variants of stands first.
std::vector<std::string> plain_families_first() {
  std::vector<std::string> known = known_families();
  std::ranges::stable_partition(known, [](const std::string& name) {
    return name == "bart" || name == "bert" || name == "llama" || name == "t5" || name == "vit";
  });
  return known;
}

}  // namespace

NameLikeness nearest_by_names(const std::vector<std::string>& tensors) {
  const ModelConfig settings(usual_settings(), "usual settings");
  const std::string beginning = common_beginning(tensors);
  const std::vector<std::string> known = plain_families_first();
  NameLikeness nearest;
  for (const std::string& dropped :
       beginning.empty() ? std::vector<std::string>{""} : std::vector<std::string>{"", beginning}) {
    std::set<std::string> there, stems;
    for (const std::string& name : tensors) {
      there.insert(name.starts_with(dropped) ? name.substr(dropped.size()) : name);
      stems.insert(without_layer(name.starts_with(dropped) ? name.substr(dropped.size()) : name));
    }
    for (const std::string& family : known) {
      try {
        const ModelConfig read = settings.as(family);
        const std::set<std::string> own =
            names_of(family_map(read, [&](const std::string& name) { return there.contains(name); }));
        NameLikeness found{family, 0, own.size(), 0, read.asked()};
        for (const std::string& name : own) found.shared += stems.contains(name) ? 1 : 0;
        found.all = own.size() + stems.size() - found.shared;
        if (found.shared * std::max<std::size_t>(nearest.all, 1) > nearest.shared * found.all) nearest = found;
      } catch (const FormatError&) {
        continue;  // settings of its own that are not among the usual ones
      }
    }
  }
  return nearest;
}

}  // namespace headwave
