#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "../../core/errors/error.h"
#include "../files/file_bytes.h"
#include "../files/input_text.h"
#include "../files/json_file.h"
#include "../files/printable.h"
#include "../files/unicode_text.h"
#include "token_model.h"
#include "token_pipeline.h"
#include "tokenizer_files.h"
#include "word_splitter.h"

namespace headwave {

namespace {

using nlohmann::json;

/// What tokenizer_config.json and added_tokens.json beside a plain vocabulary say.
struct TokenizerSettings {
  bool lowercase = true;                     ///< do_lower_case
  std::optional<bool> strip_accents;         ///< unset: as lowercase
  bool split_chinese = true;                 ///< tokenize_chinese_chars
  std::string tokenizer_class;               ///< empty: not said
  std::map<std::string, std::string> names;  ///< of special tokens: "cls_token" is "[CLS]"
  std::vector<AddedToken> added;             ///< of added_tokens_decoder and added_tokens.json
  std::vector<std::filesystem::path> files;  ///< the files that were read

  /// The name of a special token, or `usual` where the files do not name it.
  [[nodiscard]] std::string name_of(const std::string& key, const std::string& usual) const {
    const auto found = names.find(key);
    return found == names.end() ? usual : found->second;
  }
};

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

void read_config(const JsonObject& config, TokenizerSettings& settings) {
  settings.tokenizer_class = config.text("tokenizer_class", "");
  if (settings.tokenizer_class.starts_with("BertJapanese"))
    throw FormatError(fmt::format("{}: {} finds words with a morphological analyser, which headwave has not",
                                  config.place(), printable(settings.tokenizer_class)),
                      give("ids", "FILE", "in place of a text"));
  settings.lowercase = config.flag("do_lower_case", settings.lowercase);
  settings.strip_accents = config.optional_flag("strip_accents");
  settings.split_chinese = config.flag("tokenize_chinese_chars", settings.split_chinese);
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

/// Reads tokenizer_config.json and added_tokens.json in the folder of a vocabulary; either may be absent.
/// @throws IoError if one cannot be read; FormatError if one is broken
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
      const std::int64_t number = integer_of(id, fmt::format("{}: '{}'", added.place(), printable(content)));
      settings.added.push_back({.content = content, .id = number, .normalized = true});
    }
  });
  return settings;
}

std::vector<std::string> lines_of(const std::filesystem::path& path) {
  const MappedFile file(path);
  const std::string name = shown_path(path);
  if (file.size() > largest_tokenizer_file)
    throw FormatError(fmt::format("{}: {} bytes, at most {} are read: is this a vocabulary?", name, file.size(),
                                  largest_tokenizer_file));
  if (!is_valid_utf8(file.text())) throw FormatError(fmt::format("{}: not UTF-8: convert it", name));
  std::vector<std::string> lines;
  each_line(file.text(), [&](std::string_view line) { lines.emplace_back(line); });
  return lines;
}

void add_special(std::vector<AddedToken>& tokens, const Vocabulary& vocabulary, const std::string& name) {
  const std::int32_t id = vocabulary.id(name);
  const bool known = std::any_of(tokens.begin(), tokens.end(), [&](const AddedToken& other) { return other.id == id; });
  if (id < 0 || known) return;
  tokens.push_back({.content = name, .id = id, .special = true});
}

// Adds tokens whose names are not there yet.
void add_others(std::vector<AddedToken>& tokens, const std::vector<AddedToken>& others) {
  const std::size_t known = tokens.size();
  for (const AddedToken& other : others) {
    const auto end = tokens.begin() + static_cast<std::ptrdiff_t>(known);
    if (std::none_of(tokens.begin(), end, [&](const AddedToken& token) { return token.content == other.content; }))
      tokens.push_back(other);
  }
}

/// The id of a special token, by the name that the files beside a vocabulary give it, or else the usual one; it is
/// found in a text.
std::int32_t named_special(TokenPipeline& pipeline, const Vocabulary& vocabulary, const TokenizerSettings& settings,
                           const char* key, const char* usual) {
  const std::string token = settings.name_of(key, usual);
  add_special(pipeline.added, vocabulary, token);
  return vocabulary.id(token);
}

/// ESM's: a letter is a token, and what stands between letters that are none is unknown as a whole.
std::unique_ptr<Tokenizer> letter_tokenizer(Vocabulary vocabulary, const TokenizerSettings& settings,
                                            const std::filesystem::path& vocab_txt) {
  TokenPipeline pipeline;
  const auto special = [&](const char* key, const char* usual) {
    return named_special(pipeline, vocabulary, settings, key, usual);
  };
  pipeline.special.pad = special("pad_token", "<pad>");
  pipeline.special.unknown = special("unk_token", "<unk>");
  pipeline.special.opens = special("cls_token", "<cls>");
  pipeline.special.closes = special("eos_token", "<eos>");
  pipeline.special.mask = special("mask_token", "<mask>");
  std::vector<AddedToken> letters;
  for (Index id = 0; id < vocabulary.size(); ++id)
    letters.push_back({.content = vocabulary.piece(static_cast<std::int32_t>(id)), .id = id});
  add_others(pipeline.added, letters);
  pipeline.splitter = white_space_words();
  const std::string name = shown_path(vocab_txt);
  pipeline.model = whole_words(std::move(vocabulary), settings.name_of("unk_token", "<unk>"), name);
  pipeline.kind = fmt::format("letters ({})", vocab_txt.filename().string());
  pipeline.files = {vocab_txt};
  pipeline.files.insert(pipeline.files.end(), settings.files.begin(), settings.files.end());
  return tokenizer_of(std::move(pipeline), name);
}

}  // namespace

std::unique_ptr<Tokenizer> word_piece_tokenizer(const std::filesystem::path& vocab_txt) {
  const std::string name = shown_path(vocab_txt);
  const TokenizerSettings settings = settings_beside(vocab_txt);
  std::vector<VocabularyEntry> entries;
  for (std::string& line : lines_of(vocab_txt))
    entries.push_back({std::move(line), static_cast<std::int64_t>(entries.size())});
  Vocabulary vocabulary(std::move(entries), name);
  if (settings.tokenizer_class.starts_with("EsmTokenizer"))
    return letter_tokenizer(std::move(vocabulary), settings, vocab_txt);

  TokenPipeline pipeline;
  BertTextOptions text;
  text.handle_chinese_chars = settings.split_chinese;
  text.strip_accents = settings.strip_accents;
  text.lowercase = settings.lowercase;
  const std::string unknown = settings.name_of("unk_token", "[UNK]");
  const auto special = [&](const char* key, const char* usual) {
    return named_special(pipeline, vocabulary, settings, key, usual);
  };
  pipeline.special.pad = special("pad_token", "[PAD]");
  pipeline.special.unknown = special("unk_token", "[UNK]");
  pipeline.special.opens = special("cls_token", "[CLS]");
  pipeline.special.closes = special("sep_token", "[SEP]");
  pipeline.special.mask = special("mask_token", "[MASK]");
  add_others(pipeline.added, settings.added);
  const std::string file = vocab_txt.filename().string();
  pipeline.normalizer = bert_normalizer(text);
  pipeline.splitter = bert_words();
  pipeline.model = word_piece(std::move(vocabulary), {.unknown = unknown}, name);
  pipeline.kind = fmt::format("WordPiece ({})", file);
  pipeline.files = {vocab_txt};
  pipeline.files.insert(pipeline.files.end(), settings.files.begin(), settings.files.end());
  return tokenizer_of(std::move(pipeline), name);
}

}  // namespace headwave
