#include "tokenizer_settings.h"

#include <charconv>
#include <cstdint>
#include <unordered_set>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "../../core/errors/error.h"
#include "../files/json_file.h"
#include "../files/json_object.h"
#include "../files/printable.h"
#include "tokenizer_json_ends.h"

namespace headwave {

namespace {

using nlohmann::json;

// {"100": {"content": "[UNK]", "special": true}}
void read_added_tokens(const JsonObject& decoder, std::vector<AddedToken>& tokens) {
  for (const auto& [key, value] : decoder.value().items()) {
    const JsonObject object(value, fmt::format("{}: {}", decoder.place(), printable(key)));
    std::int64_t id = 0;
    const auto [end, code] = std::from_chars(key.data(), key.data() + key.size(), id);
    if (code != std::errc() || end != key.data() + key.size())
      throw FormatError(fmt::format("{}: expected a token id as the key", object.place()));
    tokens.push_back(json_added_token(object, id));
  }
}

/// Japanese BERT finds words with a morphological analyser; here the text must have blanks between them.
JapaneseSpelling japanese_spelling(const JsonObject& config) {
  if (!config.text("tokenizer_class", "").starts_with("BertJapanese")) return JapaneseSpelling::none;
  const std::string spelling = config.text("subword_tokenizer_type", "wordpiece");
  if (spelling == "wordpiece") return JapaneseSpelling::pieces;
  if (spelling == "character") return JapaneseSpelling::characters;
  throw FormatError(
      fmt::format("{}: subword_tokenizer_type '{}' is not known, expected wordpiece or character; token "
                  "ids that are ready can be given with --ids",
                  config.place(), printable(spelling, 60)));
}

void read_config(const JsonObject& config, TokenizerSettings& settings) {
  settings.tokenizer_class = config.text("tokenizer_class", "");
  settings.separate_vocabularies = config.flag("separate_vocabs", false);
  settings.japanese = japanese_spelling(config);
  settings.lowercase = config.flag("do_lower_case", settings.japanese == JapaneseSpelling::none);
  settings.strip_accents = config.optional_flag("strip_accents");
  settings.split_chinese = config.flag("tokenize_chinese_chars", settings.split_chinese);
  settings.add_prefix_space = config.flag("add_prefix_space", settings.add_prefix_space);
  if (!config.flag("do_basic_tokenize", true))
    throw FormatError(fmt::format("{}: do_basic_tokenize false is not known: give the model's tokenizer.json instead",
                                  config.place()));
  for (const char* key : {"cls_token", "sep_token", "pad_token", "unk_token", "mask_token"}) {
    const json* name = config.find(key);
    if (name != nullptr)
      settings.names[key] = name->is_object() ? config.object(key).text("content") : config.text(key);
  }
  if (config.has("added_tokens_decoder")) read_added_tokens(config.object("added_tokens_decoder"), settings.added);
}

}  // namespace

std::string TokenizerSettings::name_of(const std::string& key, const std::string& usual) const {
  const auto found = names.find(key);
  return found == names.end() ? usual : found->second;
}

TokenizerSettings settings_beside(const std::filesystem::path& vocabulary) {
  TokenizerSettings settings;
  const auto read = [&](const char* name, auto use) {
    const std::filesystem::path path = vocabulary.parent_path() / name;
    std::error_code ignored;
    if (!std::filesystem::exists(path, ignored)) return;
    const json root = json_of_file(path, {.max_bytes = largest_tokenizer_file});
    use(JsonObject(root, shown_path(path)));
    settings.files.push_back(path);
  };
  read("tokenizer_config.json", [&](const JsonObject& config) { read_config(config, settings); });
  std::unordered_set<std::string> known;
  for (const AddedToken& token : settings.added) known.insert(token.content);
  read("added_tokens.json", [&](const JsonObject& added) {
    for (const auto& [content, id] : added.value().items()) {
      if (known.contains(content)) continue;
      AddedToken token;
      token.content = content;
      token.id = integer_of(id, fmt::format("{}: '{}'", added.place(), printable(content)));
      token.normalized = true;
      settings.added.push_back(std::move(token));
    }
  });
  return settings;
}

}  // namespace headwave
