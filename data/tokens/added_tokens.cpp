#include "added_tokens.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include <fmt/format.h>

#include "../../core/errors/error.h"
#include "../files/printable.h"
#include "../files/unicode_text.h"

namespace headwave {

namespace {

constexpr std::size_t longest_name = 1024;
constexpr std::size_t longest_together = std::size_t{4} << 20U;

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
  std::size_t together = 0;
  for (const AddedToken& token : tokens) {
    names->push_back(normalizer ? normalizer(token.content) : token.content);
    const std::size_t size = names->back().size();
    if (size == 0 || size > longest_name)
      throw FormatError(fmt::format("{}: the name of added token '{}' has {} bytes once normalised, expected 1 to {}",
                                    file, printable(token.content), size, longest_name));
    together += size;
    if (together > longest_together)
      throw FormatError(
          fmt::format("{}: the names of added tokens have more than {} bytes together: is this a tokenizer?", file,
                      longest_together));
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

}  // namespace headwave
