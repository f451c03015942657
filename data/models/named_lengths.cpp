#include "named_lengths.h"

#include <algorithm>
#include <cmath>
#include <fstream>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

namespace headwave {

namespace {

constexpr double any_length = 1 << 24;  // from here on a length stands for "any"

/// The first bytes of a file; empty if it cannot be read.
std::string beginning(const std::filesystem::path& file, std::size_t bytes) {
  std::string text(bytes, '\0');
  std::ifstream in(file, std::ios::binary);
  in.read(text.data(), static_cast<std::streamsize>(bytes));
  text.resize(static_cast<std::size_t>(std::max<std::streamsize>(in.gcount(), 0)));
  return text;
}

/// `truncation` of a tokenizer.json. It stands among the first keys, before the vocabulary, which is not read for it.
nlohmann::json truncation_of(const std::filesystem::path& file) {
  const std::string text = beginning(file, 4096), key = "\"truncation\"";
  const std::size_t at = text.find(key);
  const std::size_t colon = at == text.npos ? at : text.find_first_not_of(" \t\r\n", at + key.size());
  const std::size_t open = colon == text.npos ? colon : text.find_first_not_of(" \t\r\n", colon + 1);
  const std::size_t close = open == text.npos ? open : text.find('}', open);
  if (close == text.npos || text[colon] != ':' || text[open] != '{') return {};
  return nlohmann::json::parse(text.substr(open, close + 1 - open), nullptr, false);
}

nlohmann::json object_in(const std::filesystem::path& file) {
  return nlohmann::json::parse(beginning(file, std::size_t{16} << 20U), nullptr, false);
}

}  // namespace

std::vector<NamedLength> named_lengths(const std::filesystem::path& folder) {
  std::vector<NamedLength> found;
  const auto add = [&](const nlohmann::json& object, const char* file, const char* key,
                       const std::string& before = {}) {
    if (!object.is_object() || !object.contains(key) || !object[key].is_number()) return;
    const double tokens = object[key].get<double>();
    if (tokens >= 1 && tokens < any_length) found.push_back({file, before + key, static_cast<Index>(tokens)});
  };
  add(truncation_of(folder / "tokenizer.json"), "tokenizer.json", "max_length", "truncation.");
  for (const auto& [file, key] : {std::pair("sentence_bert_config.json", "max_seq_length"),
                                  {"tokenizer_config.json", "model_max_length"},
                                  {"config.json", "max_position_embeddings"}})
    add(object_in(folder / file), file, key);
  std::ranges::stable_sort(found, {}, &NamedLength::tokens);
  return found;
}

Attributes exceeded_lengths(const std::filesystem::path& folder, Index tokens) {
  std::vector<std::string> said;
  Index shortest = 0;
  for (const NamedLength& one : named_lengths(folder)) {
    if (one.tokens >= tokens) continue;
    if (said.empty()) shortest = one.tokens;
    said.push_back(fmt::format("{} in {} ({})", one.tokens, one.file, one.key));
  }
  if (said.empty()) return {};
  return {{"named_length", std::int64_t{shortest}}, {"named_lengths", fmt::format("{}", fmt::join(said, ", "))}};
}

}  // namespace headwave
