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

// Where the white space begins that ends a text.
std::size_t trailing_space(std::string_view text) {
  std::size_t end = text.size();
  while (end > 0 && is_white_space(last_code_point(text.substr(0, end)))) {
    --end;
    while ((static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) --end;
  }
  return end;
}

// How many bytes of white space begin a text.
std::size_t leading_space(std::string_view text) {
  std::size_t at = 0;
  while (at < text.size() && is_white_space(code_point(text, at))) at += utf8_length(text[at]);
  return at;
}

bool stands_alone(std::string_view before, std::string_view after) {
  return (before.empty() || !is_word_character(last_code_point(before))) &&
         (after.empty() || !is_word_character(code_point(after, 0)));
}

}  // namespace

AddedTokenFinder::AddedTokenFinder(std::vector<AddedToken> tokens, const Normalizer& normalizer,
                                   const std::string& file)
    : tokens_(std::move(tokens)) {
  std::size_t together = 0;
  for (std::size_t i = 0; i < tokens_.size(); ++i) {
    const std::string& content = tokens_[i].content;
    const std::string name = normalizer ? normalizer(content) : content;
    together += name.size();
    if (name.empty() || name.size() > longest_name)
      throw FormatError(fmt::format("{}: the name of added token '{}' has {} bytes once normalised, expected 1 to {}",
                                    file, printable(content), name.size(), longest_name));
    if (together > longest_together)
      throw FormatError(
          fmt::format("{}: the names of added tokens have more than {} bytes together: is this a tokenizer?", file,
                      longest_together));
    insert(name, i);
  }
}

void AddedTokenFinder::insert(std::string_view name, std::size_t token) {
  begins_[static_cast<unsigned char>(name.front())] = true;
  std::size_t node = 0;
  for (const char byte : name) {
    const auto [edge, is_new] = edges_.try_emplace(256 * node + static_cast<unsigned char>(byte), token_at_.size());
    node = edge->second;
    if (is_new) token_at_.push_back(-1);
  }
  if (token_at_[node] < 0) token_at_[node] = static_cast<std::ptrdiff_t>(token);
}

AddedTokenFinder::Match AddedTokenFinder::longest_at(std::string_view text, std::size_t at) const {
  Match longest;
  std::size_t node = 0;
  for (std::size_t end = at; end < text.size();) {
    const auto edge = edges_.find(256 * node + static_cast<unsigned char>(text[end]));
    if (edge == edges_.end()) break;
    node = edge->second;
    ++end;
    if (token_at_[node] >= 0) longest = {&tokens_[static_cast<std::size_t>(token_at_[node])], end - at};
  }
  return longest;
}

std::vector<TextSegment> AddedTokenFinder::segments(std::string_view text) const {
  std::vector<TextSegment> segments;
  std::size_t done = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (!begins_[static_cast<unsigned char>(text[at])]) continue;
    const auto [token, length] = longest_at(text, at);
    if (token == nullptr) continue;
    std::size_t begin = at;
    std::size_t end = at + length;
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
