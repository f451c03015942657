#include "tokenizer.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <iterator>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include <fmt/format.h>

#include "../../core/errors/error.h"
#include "../../core/process/threads.h"
#include "../files/printable.h"
#include "../files/unicode_text.h"
#include "tokenizer_files.h"

namespace headwave {

namespace {

constexpr std::size_t longest_name = 1024;

// The position where the white space at the end of a text begins.
std::size_t trailing_space(std::string_view text) {
  std::size_t end = text.size();
  while (end > 0 && is_white_space(last_code_point(text.substr(0, end)))) {
    --end;
    while ((static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) --end;
  }
  return end;
}

// The number of bytes of white space at the beginning of a text.
std::size_t leading_space(std::string_view text) {
  std::size_t at = 0;
  while (at < text.size() && is_white_space(code_point(text, at))) at += utf8_length(text[at]);
  return at;
}

bool stands_alone(std::string_view before, std::string_view after) {
  return (before.empty() || !is_word_character(last_code_point(before))) &&
         (after.empty() || !is_word_character(code_point(after, 0)));
}

std::vector<std::string> normalized_names(const std::vector<AddedToken>& tokens, const Normalizer& normalizer,
                                          const std::string& file) {
  std::vector<std::string> names;
  for (const AddedToken& token : tokens) {
    names.push_back(normalizer ? normalizer(token.content) : token.content);
    const std::size_t size = names.back().size();
    if (size == 0 || size > longest_name)
      throw FormatError(fmt::format("{}: the name of added token '{}' has {} bytes once normalised, expected 1 to {}",
                                    file, printable(token.content), size, longest_name));
  }
  return names;
}

std::vector<PiecePrefixes::Piece> pieces_of_names(const std::vector<std::string>& names) {
  std::vector<PiecePrefixes::Piece> pieces;
  for (const std::string& name : names) pieces.push_back({name, static_cast<std::int32_t>(pieces.size())});
  return pieces;
}

}  // namespace

AddedTokenFinder::AddedTokenFinder(std::vector<AddedToken> tokens, const Normalizer& normalizer,
                                   const std::string& file)
    : names_(normalized_names(tokens, normalizer, file)),
      tokens_(std::move(tokens)),
      prefixes_(pieces_of_names(names_)) {}

std::vector<TextSegment> AddedTokenFinder::segments(std::string_view text) const {
  std::vector<TextSegment> segments;
  std::size_t done = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const AddedToken* token = nullptr;
    std::size_t begin = at, end = at;
    prefixes_.of(text.substr(at), [&](std::size_t length, std::int32_t number) {  // the longest comes last
      token = &tokens_[static_cast<std::size_t>(number)];
      end = at + length;
    });
    if (token == nullptr) continue;
    at = end - 1;  // a match is never searched again, even if it is rejected below
    if (token->single_word && !stands_alone(text.substr(0, begin), text.substr(end))) continue;
    if (token->lstrip) begin = trailing_space(text.substr(0, begin));
    if (token->rstrip) end += leading_space(text.substr(end));
    begin = std::max(begin, done);
    if (done < begin) segments.push_back({text.substr(done, begin - done), -1});
    segments.push_back({text.substr(begin, std::max(begin, end) - begin), static_cast<std::int32_t>(token->id)});
    done = std::max(begin, end);
  }
  if (done < text.size()) segments.push_back({text.substr(done), -1});
  return segments;
}

namespace {

std::vector<AddedToken> looked_for(const std::vector<AddedToken>& added, bool normalized) {
  std::vector<AddedToken> chosen;
  std::copy_if(added.begin(), added.end(), std::back_inserter(chosen),
               [&](const AddedToken& token) { return token.normalized == normalized; });
  return chosen;
}

// Spells the words of one text. Most words occur again and are spelled only once. The memory of words lasts
// for one text, so threads share no state.
class Spelling {
 public:
  Spelling(const TokenModel& model, std::vector<std::int32_t>& ids) : model_(model), ids_(ids) {}

  void append(const std::string& word) {
    stop_if_asked();
    const auto [place, is_new] = known_.try_emplace(word);
    Stretch& stretch = place->second;
    if (is_new) {
      stretch.begin = ids_.size();
      model_.append_ids(word, ids_);
      stretch.size = ids_.size() - stretch.begin;
      return;
    }
    for (std::size_t i = 0; i < stretch.size; ++i) {
      const std::int32_t id = ids_[stretch.begin + i];
      ids_.push_back(id);
    }
  }

 private:
  struct Stretch {
    std::size_t begin = 0;
    std::size_t size = 0;
  };
  const TokenModel& model_;
  std::vector<std::int32_t>& ids_;
  std::unordered_map<std::string, Stretch> known_;
};

}  // namespace

Tokenizer::Tokenizer(TokenPipeline parts, const std::string& file)
    : parts_(std::move(parts)),
      before_(looked_for(parts_.added, false), {}, file),
      after_(looked_for(parts_.added, true), parts_.normalizer, file),
      size_(parts_.model->vocabulary().size()) {
  const Vocabulary& vocabulary = parts_.model->vocabulary();
  const Index most = largest_vocabulary(static_cast<std::size_t>(size_) + parts_.added.size());
  std::unordered_set<std::string> names;
  for (const AddedToken& token : parts_.added) {
    if (token.id < 0 || token.id >= most)
      throw FormatError(fmt::format("{}: added token '{}' has id {}, expected 0 to {}", file, printable(token.content),
                                    token.id, most - 1));
    size_ = std::max(size_, static_cast<Index>(token.id) + 1);
    const auto id = static_cast<std::int32_t>(token.id);
    const std::int32_t usual = vocabulary.id(token.content);
    if (usual >= 0 && usual != id)
      throw FormatError(fmt::format("{}: added token '{}' has id {}, but id {} in the vocabulary: make them equal",
                                    file, printable(token.content), id, usual));
    if (usual < 0 && vocabulary.has(id))
      throw FormatError(fmt::format("{}: added token '{}' has id {}, which '{}' also has: each needs its own", file,
                                    printable(token.content), id, printable(vocabulary.piece(id))));
    if (!added_.emplace(id, token.content).second || !names.insert(token.content).second)
      throw FormatError(fmt::format("{}: two added tokens have the id {} or the name '{}': remove one", file, id,
                                    printable(token.content)));
  }
  special_.resize(static_cast<std::size_t>(size_));
  for (const AddedToken& token : parts_.added) special_[static_cast<std::size_t>(token.id)] = token.special ? 1 : 0;
}

std::vector<std::int32_t> Tokenizer::encode(std::string_view utf8_text) const {
  const std::string text = valid_utf8(utf8_text);
  std::vector<std::int32_t> ids;
  Spelling spelling(*parts_.model, ids);
  for (const TextSegment& segment : before_.segments(text)) {
    if (segment.id >= 0) {
      ids.push_back(segment.id);
      continue;
    }
    const bool begins_text = segment.text.data() == text.data();
    const std::string normal = parts_.normalizer ? parts_.normalizer(segment.text) : std::string(segment.text);
    stop_if_asked();  // a long text is one segment, and every step takes time
    for (const TextSegment& part : after_.segments(normal)) {
      if (part.id >= 0)
        ids.push_back(part.id);
      else if (parts_.splitter)
        for (const Word& word :
             parts_.splitter({std::string(part.text), begins_text && part.text.data() == normal.data()}))
          spelling.append(word.text);
      else
        parts_.model->append_ids(part.text, ids);
    }
  }
  return ids;
}

std::string Tokenizer::token_text(std::int32_t id) const {
  const std::string raw = piece(id);
  return added_.contains(id) || !parts_.readable ? raw : parts_.readable(raw);
}

std::string Tokenizer::piece(std::int32_t id) const {
  if (id < 0 || id >= size_)
    throw ShapeError(fmt::format("tokenizer: token id {} is outside the vocabulary of {} tokens", id, size_));
  const auto found = added_.find(id);
  return found != added_.end()                    ? found->second
         : id < parts_.model->vocabulary().size() ? parts_.model->vocabulary().piece(id)
                                                  : std::string();
}

std::string special_tokens_text(const SpecialTokens& special, const std::string& what) {
  if (special.opens < 0 && special.closes < 0) return "none";
  if (special.opens < 0) return "closing token after every " + what;
  if (special.closes < 0) return "opening token before every " + what;
  return "opening and closing token around every " + what;
}

namespace {

/// Files of tokenizers that are not read here, but that transformers can write as tokenizer.json.
constexpr std::array unread_tokenizers{"tokenizer.model",         "spiece.model", "spm.model",
                                       "sentencepiece.bpe.model", "vocab.json",   "encoder.json"};

}  // namespace

bool has_tokenizer(const std::filesystem::path& model_directory) {
  const auto has = [&](const char* name) {
    std::error_code ignored;
    return std::filesystem::exists(model_directory / name, ignored);
  };
  return std::ranges::any_of(std::to_array({"tokenizer.json", "vocab.txt"}), has) ||
         std::ranges::any_of(unread_tokenizers, has);
}

std::unique_ptr<Tokenizer> open_tokenizer(const std::filesystem::path& model_directory, TokenizerUse use) {
  std::error_code ignored;
  if (!std::filesystem::is_directory(model_directory, ignored))
    throw IoError(fmt::format("{}: no such folder; expected the folder of a model", shown_path(model_directory)));
  const auto has = [&](const char* name) { return std::filesystem::exists(model_directory / name, ignored); };

  if (has("tokenizer.json")) return json_tokenizer(model_directory / "tokenizer.json", use);
  if (has("vocab.txt")) return word_piece_tokenizer(model_directory / "vocab.txt");
  const Remedy ids = give("ids", "FILE", "in place of a text");
  if (has("source.spm"))
    throw FormatError(
        fmt::format(
            "{}: this is a tokenizer of Marian, which headwave does not read and transformers does not write as "
            "tokenizer.json; use transformers to turn texts into token ids",
            shown_path(model_directory / "source.spm")),
        ids);
  const auto* found = std::ranges::find_if(unread_tokenizers, has);
  const bool none = found == unread_tokenizers.end();
  throw FormatError(
      fmt::format("{}: {}; expected tokenizer.json or vocab.txt. transformers writes tokenizer.json: python3 -c \"from "
                  "transformers import AutoTokenizer; AutoTokenizer.from_pretrained('DIR').save_pretrained('DIR')\"",
                  shown_path(none ? model_directory : model_directory / *found),
                  none                                          ? "no tokenizer in this folder"
                  : std::string_view(*found).ends_with(".json") ? "this is a vocabulary of GPT-2"
                                                                : "this is a SentencePiece model"),
      ids);
}

}  // namespace headwave
