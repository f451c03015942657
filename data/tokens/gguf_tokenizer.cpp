#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "../../core/errors/error.h"
#include "../arrays/gguf.h"
#include "../files/printable.h"
#include "../files/unicode_text.h"
#include "normalizer.h"
#include "sentencepiece.h"
#include "token_pipeline.h"
#include "tokenizer_files.h"
#include "word_splitter.h"

namespace headwave {

namespace {

constexpr std::size_t most_gguf_tokens = std::size_t{1} << 22U;

/// The kinds of tokens, by the numbers of the file, are those of SentencePiece.
using TokenKind = SentencePieceKind;

/// How texts are cut into words before merges spell them.
struct Cut {
  std::string_view pattern = {};   ///< what becomes a word; empty: GPT-2's
  bool each_digit = false;         ///< every number character is a word of its own, before that
  bool composed = false;           ///< NFC first
  bool whole_words_first = false;  ///< a word that is a token is not spelled by merges
  bool opened = false;             ///< documents are opened unless the file says otherwise
};

constexpr std::string_view words_of_llama3 =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr std::string_view words_of_qwen2 =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";

/// By `tokenizer.ggml.pre`.
struct NamedCut {
  std::string_view name;
  Cut cut;
};
constexpr Cut cut_of_gpt2{}, cut_of_llama3{words_of_llama3, false, false, true, true},
    cut_of_digits{std::string_view(), true};
constexpr std::array<NamedCut, 19> named_cuts{{{"", cut_of_gpt2},
                                               {"default", cut_of_gpt2},
                                               {"gpt-2", cut_of_gpt2},
                                               {"phi-2", cut_of_gpt2},
                                               {"roberta-bpe", cut_of_gpt2},
                                               {"jina-es", cut_of_gpt2},
                                               {"jina-de", cut_of_gpt2},
                                               {"jina-v2-es", cut_of_gpt2},
                                               {"jina-v2-de", cut_of_gpt2},
                                               {"jina-v2-code", cut_of_gpt2},
                                               {"llama-bpe", cut_of_llama3},
                                               {"llama3", cut_of_llama3},
                                               {"llama-v3", cut_of_llama3},
                                               {"dbrx", {.pattern = words_of_llama3}},
                                               {"qwen2", {.pattern = words_of_qwen2, .composed = true}},
                                               {"deepseek-r1-qwen", {.pattern = words_of_qwen2}},
                                               {"smollm", cut_of_digits},
                                               {"starcoder", cut_of_digits},
                                               {"refact", cut_of_digits}}};

const Cut& cut_named(const std::string& name, const std::string& file) {
  const auto* found = std::ranges::find(named_cuts, name, &NamedCut::name);
  if (found != named_cuts.end()) return found->cut;
  std::string known;
  for (const NamedCut& cut : named_cuts)
    if (!cut.name.empty()) known += (known.empty() ? "" : ", ") + std::string(cut.name);
  throw FormatError(
      fmt::format("{}: 'tokenizer.ggml.pre' is '{}', which is not known; expected {}: another pattern would "
                  "give other ids",
                  file, printable(name, 60), known),
      give("ids", "FILE", "in place of a text"));
}

WordSplitter splitter_of(const Cut& cut, const std::string& file) {
  std::vector<WordSplitter> steps;
  if (cut.each_digit) steps.push_back(cut_at_numbers(true));
  if (!cut.pattern.empty())
    steps.push_back(cut_at(regular_expression(std::string(cut.pattern), file), MatchBecomes::word));
  steps.push_back(byte_level_words({.split_words = cut.pattern.empty()}));
  return in_sequence(std::move(steps));
}

/// The tokenizer's part of a file's metadata.
class TokenizerKeys {
 public:
  explicit TokenizerKeys(const GgufFile& file) : file_(file), name_(shown_path(file.path())) {
    const std::vector<std::int64_t>& types = file.integers(key("token_type"));
    if (tokens().empty() || tokens().size() > most_gguf_tokens)
      fail(fmt::format("holds {} tokens ('tokenizer.ggml.tokens'), expected 1 to {}", tokens().size(),
                       most_gguf_tokens));
    if (!types.empty() && types.size() != tokens().size())
      fail(fmt::format("'tokenizer.ggml.token_type' has {} numbers for {} tokens; expected one for each", types.size(),
                       tokens().size()));
    for (std::size_t id = 0; id < tokens().size(); ++id) {
      if (!is_valid_utf8(tokens()[id])) fail(fmt::format("token {} is not UTF-8; the file is broken", id));
      const std::int64_t type = types.empty() ? 1 : types[id];
      if (type < 0 || type > 6) fail(fmt::format("token {} is of type {}, expected 1 to 6", id, type));
      kinds_.push_back(static_cast<TokenKind>(std::max<std::int64_t>(type, 1)));
    }
  }

  [[noreturn]] void fail(const std::string& problem) const { throw FormatError(fmt::format("{}: {}", name_, problem)); }
  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] const GgufFile& file() const { return file_; }
  [[nodiscard]] const std::vector<std::string>& tokens() const { return file_.texts(key("tokens")); }
  [[nodiscard]] TokenKind kind(std::size_t id) const { return kinds_[id]; }
  static std::string key(const char* name) { return fmt::format("tokenizer.ggml.{}", name); }

  [[nodiscard]] bool flag(const char* name, bool otherwise) const { return file_.flag_or(key(name), otherwise); }
  /// The id of a special token.
  [[nodiscard]] std::int32_t id(const char* name, std::int64_t otherwise = -1) const {
    const std::int64_t id = file_.integer_or(key(name), otherwise);
    if (id == std::numeric_limits<std::uint32_t>::max() || id == -1) return -1;
    if (id < 0 || id >= std::ssize(tokens()))
      fail(fmt::format("'{}' is {}, expected the id of one of {} tokens", key(name), id, tokens().size()));
    return static_cast<std::int32_t>(id);
  }

  /// Tokens by their ids.
  [[nodiscard]] std::vector<VocabularyEntry> entries() const {
    std::vector<VocabularyEntry> entries;
    for (const std::string& token : tokens()) entries.push_back({token, std::ssize(entries)});
    return entries;
  }

  /// Tokens that are found in a text by their names: control tokens, and those that a user defined.
  [[nodiscard]] std::vector<AddedToken> added() const {
    std::vector<AddedToken> added;
    for (std::size_t id = 0; id < tokens().size(); ++id) {
      const bool special = kind(id) == TokenKind::control || kind(id) == TokenKind::unknown;
      if ((special || kind(id) == TokenKind::user_defined) && !tokens()[id].empty())
        added.push_back({.content = tokens()[id], .id = static_cast<std::int64_t>(id), .special = special});
    }
    return added;
  }

  /// @param opened, closed  whether documents are, where the file does not say it
  [[nodiscard]] SpecialTokens special(bool opened, bool closed, std::int64_t bos = -1, std::int64_t eos = -1) const {
    SpecialTokens special;
    if (flag("add_bos_token", opened)) special.opens = id("bos_token_id", bos);
    if (flag("add_eos_token", closed)) special.closes = id("eos_token_id", eos);
    special.pad = id("padding_token_id");
    special.unknown = id("unknown_token_id");
    special.mask = id("mask_token_id");
    return special;
  }

 private:
  const GgufFile& file_;
  std::string name_;
  std::vector<TokenKind> kinds_;
};

TokenPipeline byte_level_pipeline(const TokenizerKeys& keys, TokenizerUse use) {
  const std::string pre = keys.file().text_or(TokenizerKeys::key("pre"), "");
  const Cut& cut = use == TokenizerUse::text ? cut_named(pre, keys.name()) : cut_of_gpt2;
  std::vector<Merge> merges;
  for (const std::string& line : keys.file().texts(TokenizerKeys::key("merges")))
    merges.push_back(merge_of_line(line, fmt::format("{}: tokenizer.ggml.merges[{}]", keys.name(), merges.size())));
  TokenPipeline pipeline;
  pipeline.added = keys.added();
  if (cut.composed) pipeline.normalizer = normal_form(NormalForm::nfc);
  pipeline.splitter = splitter_of(cut, keys.name());
  pipeline.readable = readable_spelling;
  BytePairOptions options;
  options.whole_words_first = cut.whole_words_first;
  pipeline.model = byte_pair_encoding({keys.entries(), keys.name()}, merges, options, keys.name());
  pipeline.special = keys.special(cut.opened, false);
  pipeline.kind = fmt::format("byte-level BPE, {}", pre.empty() ? "gpt-2" : pre);
  return pipeline;
}

TokenPipeline sentencepiece_of(const TokenizerKeys& keys, TokenizerUse /*use*/) {
  const std::vector<double>& scores = keys.file().numbers(TokenizerKeys::key("scores"));
  if (scores.size() != keys.tokens().size())
    keys.fail(fmt::format("'tokenizer.ggml.scores' has {} numbers for {} tokens; expected one for each", scores.size(),
                          keys.tokens().size()));
  SentencePieceFile model;
  model.model = SentencePieceFile::Model::bpe;
  const std::int32_t unknown = keys.id("unknown_token_id", 0);
  for (std::size_t id = 0; id < scores.size(); ++id) {
    TokenKind kind = keys.kind(id);
    model.byte_fallback = model.byte_fallback || kind == TokenKind::byte;
    if (std::cmp_equal(id, unknown)) kind = TokenKind::unknown;
    const bool is_word = kind == TokenKind::normal || kind == TokenKind::unknown || kind == TokenKind::byte;
    // User-defined tokens are found in the text; padding of the vocabulary never.
    model.pieces.push_back({keys.tokens()[id], static_cast<float>(scores[id]), is_word ? kind : TokenKind::control});
    if (keys.tokens()[id].empty()) keys.fail(fmt::format("token {} is empty; the file is broken", id));
  }
  constexpr const char* mark = "\u2581";
  TokenPipeline pipeline;
  pipeline.added = keys.added();
  std::vector<Normalizer> steps;
  if (keys.flag("add_space_prefix", true)) steps.push_back(prepended(mark));
  steps.push_back(replaced(fixed_string(" "), mark));
  pipeline.normalizer = in_sequence(std::move(steps));
  pipeline.readable = replaced(fixed_string(mark), " ");
  pipeline.model = sentencepiece_pairs(model, keys.name());
  pipeline.special = keys.special(true, false, 1, 2);
  pipeline.special.unknown = unknown;
  pipeline.kind = "SentencePiece BPE";
  return pipeline;
}

/// BERT's pieces: a mark begins those that begin a word, and others have lost their "##".
TokenPipeline word_piece_pipeline(const TokenizerKeys& keys, TokenizerUse /*use*/) {
  constexpr std::string_view mark = "\u2581";
  std::vector<VocabularyEntry> entries;
  BertTextOptions text;
  for (const std::string& token : keys.tokens()) {
    const bool named = token.starts_with('[') && token.ends_with(']');
    const bool begins = token.starts_with(mark);
    if (!named)
      text.lowercase =
          text.lowercase && std::ranges::none_of(token, [](unsigned char c) { return c >= 'A' && c <= 'Z'; });
    entries.push_back({named ? token : begins ? token.substr(mark.size()) : "##" + token, std::ssize(entries)});
  }
  Vocabulary vocabulary(std::move(entries), keys.name());
  TokenPipeline pipeline;
  pipeline.special = specials_by_name(vocabulary);
  for (const std::int32_t id : {pipeline.special.pad, pipeline.special.unknown, pipeline.special.opens,
                                pipeline.special.closes, pipeline.special.mask})
    if (id >= 0) pipeline.added.push_back({.content = vocabulary.piece(id), .id = id, .special = true});
  if (!keys.flag("add_bos_token", true)) pipeline.special.opens = -1;
  if (!keys.flag("add_eos_token", true)) pipeline.special.closes = -1;
  pipeline.normalizer = bert_normalizer(text);
  pipeline.splitter = bert_words();
  pipeline.model = word_piece(std::move(vocabulary), {}, keys.name());
  pipeline.kind = "WordPiece";
  return pipeline;
}

}  // namespace

std::unique_ptr<Tokenizer> gguf_tokenizer(const std::filesystem::path& path, TokenizerUse use) {
  const GgufFile file(path);
  const std::string model = file.text_or("tokenizer.ggml.model", "");
  const auto pipeline_of = model == "gpt2"    ? byte_level_pipeline
                           : model == "llama" ? sentencepiece_of
                           : model == "bert"  ? word_piece_pipeline
                                              : nullptr;
  if (pipeline_of == nullptr)
    throw FormatError(
        fmt::format("{}: 'tokenizer.ggml.model' is {}; expected gpt2, llama or bert", shown_path(path),
                    model.empty() ? "missing" : fmt::format("'{}', which is not known", printable(model, 60))),
        give("ids", "FILE", "in place of a text"));
  const TokenizerKeys keys(file);
  TokenPipeline pipeline = pipeline_of(keys, use);
  pipeline.kind += fmt::format(" ({})", path.filename().string());
  pipeline.files = {path};
  return tokenizer_of(std::move(pipeline), keys.name());
}

}  // namespace headwave
