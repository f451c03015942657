#include "tokenizer_json_steps.h"

#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "../../core/errors/error.h"
#include "../files/printable.h"
#include "../files/unicode_text.h"
#include "bert_text.h"
#include "byte_alphabet.h"
#include "json_steps.h"
#include "metaspace.h"
#include "precompiled_charsmap.h"

namespace headwave {

namespace {

using nlohmann::json;

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

}  // namespace headwave
