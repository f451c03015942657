#include "token_pipeline.h"

#include <algorithm>
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

namespace headwave {

namespace {

constexpr std::size_t longest_name = 1024;

// Where the white space at the end of a text begins.
std::size_t trailing_space(std::string_view text) {
  std::size_t end = text.size();
  while (end > 0 && is_white_space(last_code_point(text.substr(0, end)))) {
    --end;
    while ((static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) --end;
  }
  return end;
}

// The bytes of white space at the beginning of a text.
std::size_t leading_space(std::string_view text) {
  std::size_t at = 0;
  while (at < text.size() && is_white_space(code_point(text, at))) at += utf8_length(text[at]);
  return at;
}

bool stands_alone(std::string_view before, std::string_view after) {
  return (before.empty() || !is_word_character(last_code_point(before))) &&
         (after.empty() || !is_word_character(code_point(after, 0)));
}

std::shared_ptr<const std::vector<std::string>> normalized_names(const std::vector<AddedToken>& tokens,
                                                                 const Normalizer& normalizer,
                                                                 const std::string& file) {
  auto names = std::make_shared<std::vector<std::string>>();
  for (const AddedToken& token : tokens) {
    names->push_back(normalizer ? normalizer(token.content) : token.content);
    const std::size_t size = names->back().size();
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
      prefixes_(pieces_of_names(*names_)) {}

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
    at = end - 1;  // what a match covers is never looked at again, even if the match is turned down
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

// Spells the words of one text. Most words occur again, and are spelled once. The words are kept per text, so
// that threads share no state.
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

class PipelineTokenizer final : public Tokenizer {
 public:
  PipelineTokenizer(TokenPipeline pipeline, const std::string& file)
      : parts_(std::move(pipeline)),
        before_(looked_for(parts_.added, false), {}, file),
        after_(looked_for(parts_.added, true), parts_.normalizer, file),
        size_(parts_.model->vocabulary().size()) {
    const Index most = largest_vocabulary(static_cast<std::size_t>(size_) + parts_.added.size());
    for (const AddedToken& token : parts_.added) {
      if (token.id < 0 || token.id >= most)
        throw FormatError(fmt::format("{}: added token '{}' has id {}, expected 0 to {}", file,
                                      printable(token.content), token.id, most - 1));
      size_ = std::max(size_, static_cast<Index>(token.id) + 1);
    }
    special_.resize(static_cast<std::size_t>(size_));
    for (const AddedToken& token : parts_.added) {
      check_place(token, file);
      special_[static_cast<std::size_t>(token.id)] = token.special ? 1 : 0;
    }
  }

  [[nodiscard]] std::vector<std::int32_t> encode(std::string_view utf8_text) const override {
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
      stop_if_asked();  // a long text is one segment, and takes its time at every step
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

  [[nodiscard]] std::string token_text(std::int32_t id) const override {
    const std::string raw = piece(id);
    return added_.contains(id) || !parts_.readable ? raw : parts_.readable(raw);
  }

  [[nodiscard]] std::string piece(std::int32_t id) const override {
    if (id < 0 || id >= size_)
      throw ShapeError(fmt::format("tokenizer: token id {} is not in the vocabulary of {}", id, size_));
    const auto found = added_.find(id);
    return found != added_.end()                    ? found->second
           : id < parts_.model->vocabulary().size() ? parts_.model->vocabulary().piece(id)
                                                    : std::string();
  }

  [[nodiscard]] Index vocabulary() const override { return size_; }
  [[nodiscard]] bool is_special(std::int32_t id) const override {
    return id >= 0 && id < size_ && special_[static_cast<std::size_t>(id)] != 0;
  }
  [[nodiscard]] SpecialTokens special_tokens() const override { return parts_.special; }
  [[nodiscard]] std::string kind() const override { return parts_.kind; }
  [[nodiscard]] std::vector<std::filesystem::path> files() const override { return parts_.files; }

 private:
  void check_place(const AddedToken& token, const std::string& file) {
    const auto id = static_cast<std::int32_t>(token.id);
    const Vocabulary& vocabulary = parts_.model->vocabulary();
    const std::int32_t usual = vocabulary.id(token.content);
    if (usual >= 0 && usual != id)
      throw FormatError(fmt::format("{}: added token '{}' has id {}, and id {} in the vocabulary: make them equal",
                                    file, printable(token.content), id, usual));
    if (usual < 0 && vocabulary.has(id))
      throw FormatError(fmt::format("{}: added token '{}' has id {}, which is that of '{}': each needs its own", file,
                                    printable(token.content), id, printable(vocabulary.piece(id))));
    if (!added_.emplace(id, token.content).second || !names_.insert(token.content).second)
      throw FormatError(fmt::format("{}: two added tokens have the id {} or the name '{}': remove one", file, id,
                                    printable(token.content)));
  }

  TokenPipeline parts_;
  AddedTokenFinder before_, after_;
  Index size_;
  std::vector<std::uint8_t> special_;
  std::unordered_map<std::int32_t, std::string> added_;
  std::unordered_set<std::string> names_;
};

}  // namespace

std::unique_ptr<Tokenizer> tokenizer_of(TokenPipeline pipeline, const std::string& file) {
  return std::make_unique<PipelineTokenizer>(std::move(pipeline), file);
}

}  // namespace headwave
