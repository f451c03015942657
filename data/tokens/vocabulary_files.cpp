#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "../../core/errors/error.h"
#include "../files/file_bytes.h"
#include "../files/input_text.h"
#include "../files/json_file.h"
#include "../files/printable.h"
#include "../files/unicode_text.h"
#include "tokenizer_files.h"

namespace headwave {

namespace {

using nlohmann::json;

/// Ids by piece.
json pieces_of(const std::filesystem::path& vocab_txt) {
  const MappedFile file(vocab_txt);
  const std::string name = shown_path(vocab_txt);
  if (file.size() > largest_tokenizer_file)
    throw FormatError(fmt::format("{}: {} bytes, at most {} are read: is this a vocabulary?", name, file.size(),
                                  largest_tokenizer_file));
  if (!is_valid_utf8(file.text())) throw FormatError(fmt::format("{}: not UTF-8: convert it", name));
  json pieces = json::object();
  std::int64_t id = 0;
  each_line(file.text(), [&](std::string_view line) { pieces[std::string(line)] = id++; });
  return pieces;
}

/// Refuses an added token that the vocabulary does not hold.
void require_no_other(const JsonObject& settings, const json& pieces, const std::string& token) {
  if (!pieces.contains(token))
    throw FormatError(
        fmt::format("{}: the added token '{}' is not in vocab.txt, and is read from tokenizer.json alone. transformers "
                    "writes one: python3 -c \"from transformers import AutoTokenizer; "
                    "AutoTokenizer.from_pretrained('DIR').save_pretrained('DIR')\"",
                    settings.place(), printable(token)));
}

}  // namespace

std::unique_ptr<Tokenizer> word_piece_tokenizer(const std::filesystem::path& vocab_txt) {
  std::vector<std::filesystem::path> files{vocab_txt};
  const auto beside = [&](const char* name) {  // an empty object if there is no such file
    const std::filesystem::path path = vocab_txt.parent_path() / name;
    std::error_code ignored;
    if (!std::filesystem::exists(path, ignored)) return json::object();
    files.push_back(path);
    return json_of_file(path, largest_tokenizer_file);
  };
  const json settings = beside("tokenizer_config.json"), others = beside("added_tokens.json");
  const JsonObject config(settings, shown_path(files.size() > 1 ? files[1] : vocab_txt));
  const std::string tokenizer_class = config.text("tokenizer_class", "");
  if (tokenizer_class.starts_with("BertJapanese"))
    throw FormatError(fmt::format("{}: {} splits words with a morphological analyser, which headwave does not have",
                                  config.place(), printable(tokenizer_class)),
                      give("ids", "FILE", "in place of a text"));
  if (!config.flag("do_basic_tokenize", true))
    throw FormatError(fmt::format("{}: do_basic_tokenize false is not known: give the model's tokenizer.json instead",
                                  config.place()));
  const bool letters = tokenizer_class.starts_with("EsmTokenizer");
  const json pieces = pieces_of(vocab_txt);
  if (config.has("added_tokens_decoder"))
    for (const auto& [id, token] : config.object("added_tokens_decoder").value().items())
      require_no_other(config, pieces, JsonObject(token, config.place()).text("content"));
  const JsonObject more(others, shown_path(files.back()));
  for (const auto& [token, id] : more.value().items()) require_no_other(more, pieces, token);

  std::vector<json> added;
  /// A special token by the name that the settings give it, or else the usual one.
  const auto special = [&](const char* key, const char* usual) {
    const json* said = config.find(key);
    std::string name = said == nullptr     ? usual
                       : said->is_object() ? config.object(key).text("content")
                                           : config.text(key);
    const auto is_it = [&](const json& other) { return other["content"] == name; };
    if (pieces.contains(name) && std::ranges::none_of(added, is_it))
      added.push_back({{"content", name}, {"id", pieces[name]}, {"special", true}});
    return name;
  };
  special("pad_token", letters ? "<pad>" : "[PAD]");
  const std::string unknown = special("unk_token", letters ? "<unk>" : "[UNK]");
  const std::string opens = special("cls_token", letters ? "<cls>" : "[CLS]");
  const std::string closes = letters ? special("eos_token", "<eos>") : special("sep_token", "[SEP]");
  special("mask_token", letters ? "<mask>" : "[MASK]");

  json file{{"post_processor", {{"type", "TemplateProcessing"}, {"single", json::array()}}}};
  json& ends = file["post_processor"];
  const auto put = [&](const std::string& name) {
    if (!pieces.contains(name)) return;
    ends["single"].push_back({{"SpecialToken", {{"id", name}}}});
    ends["special_tokens"][name] = {{"ids", {pieces[name]}}};
  };
  put(opens);
  ends["single"].push_back({{"Sequence", {{"id", "A"}}}});
  put(closes);
  if (letters) {  // ESM's: a letter is a token, and what stands between letters that are none is unknown as a whole
    const std::size_t specials = added.size();
    for (const auto& [piece, id] : pieces.items())
      if (std::none_of(added.begin(), added.begin() + static_cast<std::ptrdiff_t>(specials),
                       [&](const json& other) { return other["content"] == piece; }))
        added.push_back({{"content", piece}, {"id", id}, {"normalized", false}});
    file["pre_tokenizer"] = {{"type", "WhitespaceSplit"}};
    file["model"] = {{"type", "WordLevel"}, {"unk_token", unknown}};
  } else {
    file["normalizer"] = {{"type", "BertNormalizer"},
                          {"handle_chinese_chars", config.flag("tokenize_chinese_chars", true)},
                          {"lowercase", config.flag("do_lower_case", true)}};
    if (const auto strip = config.optional_flag("strip_accents")) file["normalizer"]["strip_accents"] = *strip;
    file["pre_tokenizer"] = {{"type", "BertPreTokenizer"}};
    file["model"] = {{"type", "WordPiece"}, {"unk_token", unknown}};
  }
  file["model"]["vocab"] = pieces;
  file["added_tokens"] = added;
  return tokenizer_of_json(file, files, TokenizerUse::text);
}

}  // namespace headwave
