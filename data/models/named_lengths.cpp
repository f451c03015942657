#include "named_lengths.h"

#include <algorithm>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace headwave {

Attributes exceeded_lengths(const std::filesystem::path& folder, Index tokens) {
  constexpr double any_length = 1 << 24;  // from here on a length stands for "any"
  std::multimap<Index, std::string> exceeded;
  for (const auto& [name, key] : {std::pair("sentence_bert_config.json", "max_seq_length"),
                                  {"tokenizer_config.json", "model_max_length"},
                                  {"config.json", "max_position_embeddings"}}) {
    std::ostringstream text;
    text << std::ifstream(folder / name, std::ios::binary).rdbuf();  // what cannot be read names no length
    const nlohmann::json settings = nlohmann::json::parse(text.str(), nullptr, false);
    if (!settings.is_object() || !settings.contains(key) || !settings[key].is_number()) continue;
    const double length = settings[key].get<double>();
    if (length >= 1 && length < any_length && length < static_cast<double>(tokens))
      exceeded.emplace(static_cast<Index>(length), fmt::format("{:.0f} in {} ({})", length, name, key));
  }
  if (exceeded.empty()) return {};
  std::string all;
  for (const auto& [length, text] : exceeded) all += (all.empty() ? "" : ", ") + text;
  return {{"named_length", std::int64_t{exceeded.begin()->first}}, {"named_lengths", all}};
}

}  // namespace headwave
