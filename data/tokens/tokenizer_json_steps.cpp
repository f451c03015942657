#include "tokenizer_json_steps.h"

#include <limits>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "../../core/numbers/error.h"
#include "../files/printable.h"
#include "../files/unicode_text.h"
#include "bert_text.h"
#include "byte_alphabet.h"
#include "metaspace.h"
#include "precompiled_charsmap.h"

namespace headwave {

namespace {

using nlohmann::json;

[[noreturn]] void refuse_type(const JsonObject& step, const std::string& type, const char* known) {
  throw FormatError(fmt::format("{}: type '{}' is not known, expected {}: leaving it out would change what comes out",
                                step.place(), printable(type), known));
}

// A step may be a sequence of steps: then each of them, in order.
std::vector<JsonObject> steps_of(const JsonObject& step, const std::string& key) {
  std::vector<JsonObject> steps;
  for (const json& value : step.list(key))
    steps.emplace_back(value, fmt::format("{}: {}[{}]", step.place(), key, steps.size()));
  return steps;
}

template <class Step, class Read>
std::vector<Step> all_of(const std::vector<JsonObject>& objects, Read read) {
  std::vector<Step> steps;
  for (const JsonObject& object : objects)
    if (Step step = read(object)) steps.push_back(std::move(step));
  return steps;
}

// What a Replace or Split looks for.
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
  if (type == "Sequence") return in_sequence(all_of<Normalizer>(steps_of(step, "normalizers"), normalizer_of));
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
  if (type == "Nmt") return without_controls();
  if (type == "ByteLevel") return spelled_in_byte_alphabet;
  if (type == "Precompiled") return precompiled_normalizer(step.text("precompiled_charsmap"), step.place());
  refuse_type(step, type,
              "BertNormalizer, NFC, NFD, NFKC, NFKD, Lowercase, StripAccents, Strip, Prepend, Replace, Nmt, ByteLevel, "
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
        fmt::format("{}: replacement '{}', expected one character", step.place(), printable(options.mark)));
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

WordSplitter delimited_of(const JsonObject& step) {
  std::string delimiter = step.text("delimiter");
  if (delimiter.empty() || delimiter.size() != utf8_length(delimiter[0]))
    throw FormatError(fmt::format("{}: delimiter '{}', expected one character", step.place(), printable(delimiter)));
  return cut_at(fixed_string(std::move(delimiter)), MatchBecomes::nothing);
}

WordSplitter splitter_of(const JsonObject& step) {
  const std::string type = step.text("type");
  if (type == "Sequence") return in_sequence(all_of<WordSplitter>(steps_of(step, "pretokenizers"), splitter_of));
  if (type == "BertPreTokenizer") return bert_words();
  if (type == "Whitespace") return word_runs();
  if (type == "ByteLevel") return byte_level_words({step.flag("add_prefix_space", true), step.flag("use_regex", true)});
  if (type == "WhitespaceSplit") return given_words();
  if (type == "Punctuation") return cut_at_punctuation(becomes_of(step));
  if (type == "Digits") return cut_at_numbers(step.flag("individual_digits", false));
  if (type == "Metaspace") return metaspace_of(step);
  if (type == "CharDelimiterSplit") return delimited_of(step);
  if (type == "Split") return cut_at(finder_of(step), becomes_of(step), step.flag("invert", false));
  refuse_type(step, type,
              "BertPreTokenizer, ByteLevel, Whitespace, WhitespaceSplit, Punctuation, Digits, Metaspace, "
              "CharDelimiterSplit, Split or a Sequence of them");
}

bool respells_bytes(const JsonObject& step, const std::string& steps) {
  const std::string type = step.text("type");
  if (type != "Sequence") return type == "ByteLevel";
  for (const JsonObject& part : steps_of(step, steps))
    if (respells_bytes(part, steps)) return true;
  return false;
}

using Readable = std::function<std::string(std::string_view)>;

// ByteFallback, Fuse and Strip are about pieces side by side; a single one stays as it is.
Readable readable_of(const JsonObject& step) {
  const std::string type = step.text("type");
  if (type == "Sequence") {
    auto steps = all_of<Readable>(steps_of(step, "decoders"), readable_of);
    if (steps.empty()) return {};
    return in_sequence(std::move(steps));
  }
  if (type == "ByteLevel")
    return [](std::string_view piece) {
      const auto bytes = bytes_spelled(piece);
      return bytes ? readable_bytes(*bytes) : std::string(piece);
    };
  if (type == "Replace") return replaced_as_in(step);
  if (type == "Metaspace") return replaced(fixed_string(step.text("replacement", MetaspaceOptions().mark)), " ");
  if (type == "BPEDecoder") return replaced(fixed_string(step.text("suffix", "</w>")), " ");
  if (type == "WordPiece" || type == "ByteFallback" || type == "Fuse" || type == "Strip") return {};
  refuse_type(step, type,
              "ByteLevel, WordPiece, Replace, Metaspace, BPEDecoder, ByteFallback, Fuse, Strip or a Sequence of them");
}

std::int32_t small_id(std::int64_t id, const std::string& place) {
  if (id < 0 || id > std::numeric_limits<std::int32_t>::max())
    throw FormatError(fmt::format("{}: {} is no token id", place, id));
  return static_cast<std::int32_t>(id);
}

// ["[SEP]", 102]
std::int32_t id_of_pair(const JsonObject& step, const std::string& key) {
  const auto& pair = step.list(key);
  const std::string place = step.place() + ": " + key;
  if (pair.size() != 2)
    throw FormatError(fmt::format("{}: expected a name and an id, found {} values", place, pair.size()));
  return small_id(integer_of(pair[1], place), place);
}

void put_once(std::int32_t& where, std::int32_t id, const JsonObject& step) {
  if (where >= 0)
    throw FormatError(fmt::format(
        "{}: a document is opened or closed by more than one token, and one is what can be put there", step.place()));
  where = id;
}

// {"single": [{"SpecialToken": {"id": "[CLS]"}}, {"Sequence": {"id": "A"}}], "special_tokens": {"[CLS]": {"ids":
// [101]}}}
void read_template(const JsonObject& step, SpecialTokens& ends) {
  bool is_before = true;
  for (const JsonObject& part : steps_of(step, "single")) {
    if (part.has("Sequence")) {
      is_before = false;
      continue;
    }
    const JsonObject token = step.object("special_tokens").object(part.object("SpecialToken").text("id"));
    for (const json& id : token.list("ids"))
      put_once(is_before ? ends.opens : ends.closes, small_id(integer_of(id, token.place()), token.place()), step);
  }
  if (is_before) throw FormatError(fmt::format("{}: single: the document itself is missing", step.place()));
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
  } else if (type != "ByteLevel") {  // which is about offsets only
    refuse_type(step, type, "TemplateProcessing, BertProcessing, RobertaProcessing, ByteLevel or a Sequence of them");
  }
}

}  // namespace

Normalizer json_normalizer(const JsonObject& file) {
  return file.has("normalizer") ? normalizer_of(file.object("normalizer")) : Normalizer();
}

WordSplitter json_splitter(const JsonObject& file) {
  return file.has("pre_tokenizer") ? splitter_of(file.object("pre_tokenizer")) : WordSplitter();
}

bool is_byte_level(const JsonObject& file) {
  return (file.has("normalizer") && respells_bytes(file.object("normalizer"), "normalizers")) ||
         (file.has("pre_tokenizer") && respells_bytes(file.object("pre_tokenizer"), "pretokenizers"));
}

Readable json_readable(const JsonObject& file) {
  return file.has("decoder") ? readable_of(file.object("decoder")) : Readable();
}

SpecialTokens json_document_ends(const JsonObject& file) {
  SpecialTokens ends;
  if (file.has("post_processor")) read_ends(file.object("post_processor"), ends);
  return ends;
}

AddedToken json_added_token(const JsonObject& object, std::int64_t id) {
  AddedToken token;
  token.content = object.text("content");
  token.id = id;
  token.special = object.flag("special", token.special);
  token.single_word = object.flag("single_word", token.single_word);
  token.lstrip = object.flag("lstrip", token.lstrip);
  token.rstrip = object.flag("rstrip", token.rstrip);
  token.normalized = object.flag("normalized", !token.special);
  return token;
}

}  // namespace headwave
