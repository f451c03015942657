#include "tokenizer_files.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <string>
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
#include "normalizer.h"
#include "token_model.h"
#include "word_splitter.h"

namespace headwave {

namespace {

using nlohmann::json;
using Readable = std::function<std::string(std::string_view)>;

/// Refuses a step of an unknown type.
/// @param known  list of the known types, as in a sentence
[[noreturn]] void refuse_type(const JsonObject& step, const std::string& type, const char* known) {
  throw FormatError(fmt::format("{}: type '{}' is not supported, expected {}", step.place(), printable(type), known));
}

// Sections of a tokenizer.json are steps with a `type`; a step may be a sequence of steps.
std::vector<JsonObject> steps_of(const JsonObject& step, const std::string& key) {
  std::vector<JsonObject> steps;
  for (const nlohmann::json& value : step.list(key))
    steps.emplace_back(value, fmt::format("{}: {}[{}]", step.place(), key, steps.size()));
  return steps;
}

std::int32_t token_id_of(std::int64_t id, const std::string& place) {
  if (id < 0 || id > std::numeric_limits<std::int32_t>::max())
    throw FormatError(fmt::format("{}: {} is not a token id", place, id));
  return static_cast<std::int32_t>(id);
}

// ["[SEP]", 102]
std::int32_t id_of_pair(const JsonObject& step, const std::string& key) {
  const auto& pair = step.list(key);
  const std::string place = step.place() + ": " + key;
  if (pair.size() != 2)
    throw FormatError(fmt::format("{}: expected a name and an id, found {} values", place, pair.size()));
  return token_id_of(integer_of(pair[1], place), place);
}

void put_once(std::int32_t& where, std::int32_t id, const JsonObject& step) {
  if (where >= 0)
    throw FormatError(fmt::format(
        "{}: a document is opened or closed by more than one token; expected one of each at most", step.place()));
  where = id;
}

// {"single": [{"SpecialToken": {"id": "[CLS]"}}, {"Sequence": {"id": "A"}}], "special_tokens": {"[CLS]":
// {"ids": [101]}}}
void read_template(const JsonObject& step, SpecialTokens& ends) {
  bool is_before = true;
  for (const JsonObject& part : steps_of(step, "single")) {
    if (part.has("Sequence")) {
      is_before = false;
      continue;
    }
    const JsonObject token = step.object("special_tokens").object(part.object("SpecialToken").text("id"));
    for (const nlohmann::json& id : token.list("ids"))
      put_once(is_before ? ends.opens : ends.closes, token_id_of(integer_of(id, token.place()), token.place()), step);
  }
  if (is_before)
    throw FormatError(
        fmt::format("{}: single: expected a 'Sequence', which stands for the document, found none", step.place()));
}

void read_ends(const JsonObject& step, SpecialTokens& ends) {
  const std::string type = step.text("type");
  if (type == "Sequence") {
    for (const JsonObject& part : steps_of(step, "processors")) read_ends(part, ends);
  } else if (type == "TemplateProcessing") {
    read_template(step, ends);
  } else if (type == "BertProcessing" || type == "RobertaProcessing") {
    put_once(ends.opens, id_of_pair(step, "cls"), step);
    put_once(ends.closes, id_of_pair(step, "sep"), step);
  } else if (type != "ByteLevel") {  // which only concerns offsets
    refuse_type(step, type, "TemplateProcessing, BertProcessing, RobertaProcessing, ByteLevel or a Sequence of them");
  }
}

template <class Step, class Read>
std::vector<Step> read_all(const std::vector<JsonObject>& objects, Read read) {
  std::vector<Step> steps;
  for (const JsonObject& object : objects)
    if (Step step = read(object)) steps.push_back(std::move(step));
  return steps;
}

TextFinder finder_of(const JsonObject& step) {
  const JsonObject pattern = step.object("pattern");
  if (pattern.has("Regex")) return regular_expression(pattern.text("Regex"), pattern.place());
  if (!pattern.has("String"))
    throw FormatError(
        fmt::format("{}: expected a 'String' or a 'Regex', found another kind of pattern", pattern.place()));
  std::string text = pattern.text("String");
  if (text.empty()) throw FormatError(fmt::format("{}: the string to look for is empty", pattern.place()));
  return fixed_string(std::move(text));
}

Normalizer replaced_as_in(const JsonObject& step) {
  return replaced(finder_of(step), step.text("content"));
}

Normalizer normalizer_of(const JsonObject& step) {
  const std::string type = step.text("type");
  if (type == "Sequence") return in_sequence(read_all<Normalizer>(steps_of(step, "normalizers"), normalizer_of));
  if (type == "BertNormalizer") {
    BertTextOptions options;
    options.clean_text = step.flag("clean_text", options.clean_text);
    options.handle_chinese_chars = step.flag("handle_chinese_chars", options.handle_chinese_chars);
    options.strip_accents = step.optional_flag("strip_accents");
    options.lowercase = step.flag("lowercase", options.lowercase);
    return bert_normalizer(options);
  }
  if (type == "NFC") return normal_form(NormalForm::nfc);
  if (type == "NFD") return normal_form(NormalForm::nfd);
  if (type == "NFKC") return normal_form(NormalForm::nfkc);
  if (type == "NFKD") return normal_form(NormalForm::nfkd);
  if (type == "Lowercase") return lower_case();
  if (type == "StripAccents") return without_marks();
  if (type == "Prepend") return prepended(step.text("prepend"));
  if (type == "Replace") return replaced_as_in(step);
  if (type == "Strip") return stripped(step.flag("strip_left", true), step.flag("strip_right", true));
  if (type == "ByteLevel") return spelled_in_byte_alphabet;
  if (type == "Precompiled") return precompiled_normalizer(step.text("precompiled_charsmap"), step.place());
  refuse_type(step, type,
              "BertNormalizer, NFC, NFD, NFKC, NFKD, Lowercase, StripAccents, Strip, Prepend, Replace, ByteLevel, "
              "Precompiled or a Sequence of them");
}

MatchBecomes becomes_of(const JsonObject& step) {
  const std::string behavior = step.text("behavior", "Isolated");
  if (behavior == "Removed") return MatchBecomes::nothing;
  if (behavior == "Isolated") return MatchBecomes::word;
  if (behavior == "MergedWithPrevious") return MatchBecomes::end_of_word;
  if (behavior == "MergedWithNext") return MatchBecomes::beginning_of_word;
  if (behavior == "Contiguous") return MatchBecomes::word_of_all;
  throw FormatError(fmt::format(
      "{}: behavior '{}' is not known, expected Removed, Isolated, MergedWithPrevious, MergedWithNext or Contiguous",
      step.place(), printable(behavior)));
}

// Old files have add_prefix_space in place of prepend_scheme; newer ones may have both.
WordSplitter metaspace_of(const JsonObject& step) {
  MetaspaceOptions options;
  options.mark = step.text("replacement", options.mark);
  if (options.mark.empty() || options.mark.size() != utf8_length(options.mark[0]))
    throw FormatError(
        fmt::format("{}: 'replacement' is '{}', expected one character", step.place(), printable(options.mark)));
  const std::string scheme = step.text("prepend_scheme", step.flag("add_prefix_space", true) ? "always" : "never");
  if (scheme == "first")
    options.prepend = PrependScheme::first;
  else if (scheme == "never")
    options.prepend = PrependScheme::never;
  else if (scheme != "always")
    throw FormatError(fmt::format("{}: prepend_scheme '{}' is not known, expected always, first or never", step.place(),
                                  printable(scheme)));
  options.split = step.flag("split", true);
  return metaspace_words(options);
}

WordSplitter splitter_in(const JsonObject& step) {
  const std::string type = step.text("type");
  if (type == "Sequence") return in_sequence(read_all<WordSplitter>(steps_of(step, "pretokenizers"), splitter_in));
  if (type == "BertPreTokenizer") return bert_words();
  if (type == "Whitespace") return word_runs();
  if (type == "ByteLevel") return byte_level_words({step.flag("add_prefix_space", true), step.flag("use_regex", true)});
  if (type == "WhitespaceSplit") return white_space_words();
  if (type == "Punctuation") return cut_at_punctuation(becomes_of(step));
  if (type == "Digits") return cut_at_numbers(step.flag("individual_digits", false));
  if (type == "Metaspace") return metaspace_of(step);
  if (type == "Split") return cut_at(finder_of(step), becomes_of(step), step.flag("invert", false));
  refuse_type(step, type,
              "BertPreTokenizer, ByteLevel, Whitespace, WhitespaceSplit, Punctuation, Digits, Metaspace, Split or a "
              "Sequence of them");
}

// How a single piece is shown. ByteFallback, Fuse and Strip only change sequences of pieces.
Readable readable_of(const JsonObject& step) {
  const std::string type = step.text("type");
  if (type == "Sequence") {
    auto steps = read_all<Readable>(steps_of(step, "decoders"), readable_of);
    if (steps.empty()) return {};
    return in_sequence(std::move(steps));
  }
  if (type == "ByteLevel") return readable_spelling;
  if (type == "Replace") return replaced_as_in(step);
  if (type == "Metaspace") return replaced(fixed_string(step.text("replacement", MetaspaceOptions().mark)), " ");
  if (type == "BPEDecoder") return replaced(fixed_string(step.text("suffix", "</w>")), " ");
  if (type == "WordPiece" || type == "ByteFallback" || type == "Fuse" || type == "Strip") return {};
  refuse_type(step, type,
              "ByteLevel, WordPiece, Replace, Metaspace, BPEDecoder, ByteFallback, Fuse, Strip or a Sequence of them");
}

/// The ids of pieces.
Vocabulary vocabulary_of(const JsonObject& model) {
  std::vector<VocabularyEntry> entries;
  for (const auto& [piece, id] : model.object("vocab").value().items())
    entries.push_back({piece, integer_of(id, fmt::format("{}: vocab: '{}'", model.place(), printable(piece)))});
  return {std::move(entries), model.place()};
}

std::string type_of(const JsonObject& model) {
  if (model.has("type")) return model.text("type");
  if (model.has("merges")) return "BPE";
  if (model.has("max_input_chars_per_word")) return "WordPiece";
  if (model.has("unk_id")) return "Unigram";
  throw FormatError(
      fmt::format("{}: 'type' is missing, and no merges, max_input_chars_per_word or unk_id tells it", model.place()));
}

// "left right", or ["left", "right"] in newer files.
std::vector<Merge> merges_of(const JsonObject& model) {
  std::vector<Merge> merges;
  for (const json& value : model.list("merges")) {
    const std::string place = fmt::format("{}: merges[{}]", model.place(), merges.size());
    const std::string line = value.is_array() ? "" : text_of(value, place);
    const std::size_t blank = line.find(' ');
    if (value.is_array() ? value.size() != 2 : blank == line.npos || line.find(' ', blank + 1) != line.npos)
      throw FormatError(fmt::format("{}: expected a merge of two pieces with one space between, found '{}'", place,
                                    printable(value.dump(-1, ' ', false, json::error_handler_t::replace))));
    merges.push_back(value.is_array() ? Merge{text_of(value[0], place), text_of(value[1], place)}
                                      : Merge{line.substr(0, blank), line.substr(blank + 1)});
  }
  return merges;
}

/// Refuses a text that differs from the only one supported.
void require_text(const JsonObject& model, const std::string& key, const std::string& known) {
  if (const std::string found = model.text(key, known); found != known)
    throw FormatError(
        fmt::format("{}: {} is '{}', which is not known; expected '{}'", model.place(), key, printable(found), known));
}

std::unique_ptr<TokenModel> byte_pair_model(const JsonObject& model) {
  if (const json* dropout = model.find("dropout"))
    if (!dropout->is_number() || dropout->get<double>() != 0.0)
      throw FormatError(
          fmt::format("{}: dropout {} would make ids random: set it to null", model.place(), kind_of(*dropout)));
  BytePairOptions options;
  options.unknown = model.text("unk_token", "");
  options.fuse_unknown = model.flag("fuse_unk", false);
  options.byte_fallback = model.flag("byte_fallback", false);
  options.whole_words_first = model.flag("ignore_merges", false);
  require_text(model, "continuing_subword_prefix", "");
  options.word_suffix = model.text("end_of_word_suffix", "");
  return byte_pair_encoding(vocabulary_of(model), merges_of(model), options, model.place());
}

std::unique_ptr<TokenModel> word_piece_model(const JsonObject& model) {
  require_text(model, "continuing_subword_prefix", "##");
  if (const std::int64_t longest = model.integer("max_input_chars_per_word", 100); longest != 100)
    throw FormatError(
        fmt::format("{}: max_input_chars_per_word is {}, which is not known; expected 100", model.place(), longest));
  return word_piece(vocabulary_of(model), model.text("unk_token", "[UNK]"), model.place());
}

// A list of pieces with their scores, ["\u2581the", -3.5]; ids are positions in it.
std::unique_ptr<TokenModel> unigram_model(const JsonObject& model) {
  std::vector<VocabularyEntry> entries;
  UnigramOptions options;
  for (const json& pair : model.list("vocab")) {
    const std::string place = fmt::format("{}: vocab[{}]", model.place(), entries.size());
    if (!pair.is_array() || pair.size() != 2 || !pair[1].is_number())
      throw FormatError(
          fmt::format("{}: expected a list of a piece and its score, found {}", place, shown_value(pair)));
    entries.push_back({text_of(pair[0], place), std::ssize(entries)});
    options.scores.push_back(pair[1].get<double>());
  }
  constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
  options.unknown = static_cast<std::int32_t>(std::clamp<std::int64_t>(model.integer("unk_id"), -1, most));
  options.byte_fallback = model.flag("byte_fallback", false);
  return unigram({std::move(entries), model.place()}, std::move(options), model.place());
}

std::unique_ptr<TokenModel> model_of(const JsonObject& model, const std::string& type, const std::string& file) {
  if (type == "WordPiece") return word_piece_model(model);
  if (type == "BPE") return byte_pair_model(model);
  if (type == "WordLevel") return whole_words(vocabulary_of(model), model.text("unk_token"), model.place());
  if (type == "Unigram") return unigram_model(model);
  throw FormatError(fmt::format("{}: model type '{}' is not known, expected WordPiece, BPE, WordLevel or Unigram", file,
                                printable(type)));
}

// A section of the file; empty if it is null.
template <class Step>
Step section(const JsonObject& file, const char* key, Step (*read)(const JsonObject&)) {
  return file.has(key) ? read(file.object(key)) : Step();
}

// Pad and mask are found by their usual names, the unknown token by what the model says.
SpecialTokens specials_of(const JsonObject& file, const JsonObject& model, const TokenPipeline& pipeline,
                          TokenizerUse use) {
  const Vocabulary& vocabulary = pipeline.model->vocabulary();
  const auto named = [&](const char* of_bert, const char* of_roberta) {
    std::int32_t id = vocabulary.id(of_bert);
    if (id < 0) id = vocabulary.id(of_roberta);
    for (const AddedToken& token : pipeline.added)
      if (id < 0 && (token.content == of_bert || token.content == of_roberta)) id = static_cast<std::int32_t>(token.id);
    return id;
  };
  SpecialTokens special;
  if (use == TokenizerUse::text && file.has("post_processor")) read_ends(file.object("post_processor"), special);
  special.pad = named("[PAD]", "<pad>");
  special.mask = named("[MASK]", "<mask>");
  special.unknown = model.has("unk_token") ? vocabulary.id(model.text("unk_token"))
                    : model.has("unk_id")  ? static_cast<std::int32_t>(model.integer("unk_id"))
                                           : named("[UNK]", "<unk>");
  return special;
}

AddedToken added_token(const JsonObject& object) {
  AddedToken token;
  token.content = object.text("content");
  token.id = object.integer("id");
  token.special = object.flag("special", token.special);
  token.single_word = object.flag("single_word", token.single_word);
  token.lstrip = object.flag("lstrip", token.lstrip);
  token.rstrip = object.flag("rstrip", token.rstrip);
  token.normalized = object.flag("normalized", !token.special);
  return token;
}

/// The tokenizer that the content of a tokenizer.json describes.
/// @param files  the files that it was made from; messages name the first
std::unique_ptr<Tokenizer> tokenizer_of_json(const json& root, const std::vector<std::filesystem::path>& files,
                                             TokenizerUse use) {
  const std::string name = shown_path(files.front());
  const JsonObject file(root, name);
  const JsonObject model = file.object("model");
  const std::string type = type_of(model);

  TokenPipeline pipeline;
  pipeline.files = files;
  pipeline.model = model_of(model, type, name);
  const bool of_bytes = file.has("decoder") && file.object("decoder").text("type") == "ByteLevel";
  pipeline.kind = fmt::format("{}{} ({})", of_bytes ? "byte-level " : "", type, files.front().filename().string());
  if (file.has("added_tokens"))
    for (const JsonObject& token : steps_of(file, "added_tokens")) pipeline.added.push_back(added_token(token));
  pipeline.normalizer = section(file, "normalizer", normalizer_of);
  pipeline.splitter = section(file, "pre_tokenizer", splitter_in);
  pipeline.readable = section(file, "decoder", readable_of);
  pipeline.special = specials_of(file, model, pipeline, use);
  auto tokenizer = std::make_unique<Tokenizer>(std::move(pipeline), name);
  const SpecialTokens special = tokenizer->special_tokens();
  for (const std::int32_t id : {special.opens, special.closes})
    if (id >= tokenizer->vocabulary())
      throw FormatError(fmt::format("{}: post_processor: token id {} is outside the vocabulary of {} tokens", name, id,
                                    tokenizer->vocabulary()));
  return tokenizer;
}

}  // namespace

std::unique_ptr<Tokenizer> json_tokenizer(const std::filesystem::path& path, TokenizerUse use) {
  const json root = json_of_file(path, largest_tokenizer_file);
  return tokenizer_of_json(root, {path}, use);
}

namespace {

/// The ids of pieces.
json pieces_of(const std::filesystem::path& vocab_txt) {
  const MappedFile file(vocab_txt);
  const std::string name = shown_path(vocab_txt);
  if (file.size() > largest_tokenizer_file)
    throw FormatError(fmt::format("{}: has {} bytes, but at most {} are read: is this a vocabulary?", name, file.size(),
                                  largest_tokenizer_file));
  if (!is_valid_utf8(file.text())) throw FormatError(fmt::format("{}: is not UTF-8: convert it", name));
  json pieces = json::object();
  std::int64_t id = 0;
  each_line(file.text(), [&](std::string_view line) { pieces[std::string(line)] = id++; });
  return pieces;
}

/// Refuses an added token that is not in the vocabulary.
void require_no_other(const JsonObject& settings, const json& pieces, const std::string& token) {
  if (!pieces.contains(token))
    throw FormatError(fmt::format(
        "{}: the added token '{}' is not in vocab.txt; such tokens are read only from tokenizer.json, which "
        "transformers writes: python3 -c \"from transformers import AutoTokenizer; "
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
    throw FormatError(
        fmt::format("{}: 'do_basic_tokenize' is false, which is not supported; give the model's tokenizer.json instead",
                    config.place()));
  const bool letters = tokenizer_class.starts_with("EsmTokenizer");
  const json pieces = pieces_of(vocab_txt);
  if (config.has("added_tokens_decoder"))
    for (const auto& [id, token] : config.object("added_tokens_decoder").value().items())
      require_no_other(config, pieces, JsonObject(token, config.place()).text("content"));
  const JsonObject more(others, shown_path(files.back()));
  for (const auto& [token, id] : more.value().items()) require_no_other(more, pieces, token);

  std::vector<json> added;
  /// A special token's name from the settings, or the usual one; adds the token if the vocabulary has it.
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
  if (letters) {  // ESM: each letter is a token; other characters between them are unknown as a whole
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
