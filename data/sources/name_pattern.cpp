#include "name_pattern.h"

#include <algorithm>
#include <charconv>
#include <utility>

namespace headwave {

namespace {

constexpr std::string_view layer_mark = "{layer}", document_mark = "{document}";

std::string with_mark(std::string pattern, std::string_view mark, const std::string& text) {
  const std::size_t at = pattern.find(mark);
  return at == pattern.npos ? pattern : pattern.replace(at, mark.size(), text);
}

}  // namespace

bool fits_pattern(std::string_view pattern, std::string_view name, NameMatch& match) {
  const std::size_t brace = pattern.find('{');
  if (name.substr(0, brace) != pattern.substr(0, brace)) return false;
  if (brace == pattern.npos) return name.size() == pattern.size();
  name.remove_prefix(brace);
  pattern.remove_prefix(brace);
  if (pattern.starts_with(layer_mark)) {
    const auto [stop, problem] = std::from_chars(name.data(), name.data() + name.size(), match.number);
    match.digits.assign(name.data(), stop);
    return problem == std::errc() && match.number >= 0 &&
           fits_pattern(pattern.substr(layer_mark.size()), name.substr(match.digits.size()), match);
  }
  if (!pattern.starts_with(document_mark))  // a brace of the name's own
    return name.starts_with('{') && fits_pattern(pattern.substr(1), name.substr(1), match);
  for (std::size_t length = 1; length <= name.size() && name[length - 1] != '/'; ++length) {
    match.document = name.substr(0, length);
    if (fits_pattern(pattern.substr(document_mark.size()), name.substr(length), match)) return true;
  }
  return false;
}

bool has_layer_mark(std::string_view pattern) {
  return pattern.find(layer_mark) != pattern.npos;
}

bool has_document_mark(std::string_view pattern) {
  return pattern.find(document_mark) != pattern.npos;
}

std::string name_of_layer(std::string pattern, const std::string& digits) {
  return with_mark(std::move(pattern), layer_mark, digits);
}

std::string name_of_document(std::string pattern, const std::string& document) {
  return with_mark(std::move(pattern), document_mark, document);
}

void sort_documents(std::vector<std::string>& documents) {
  const bool numbers = std::ranges::all_of(documents, [](const std::string& text) {
    return text.size() < 18 && text.find_first_not_of("0123456789") == text.npos;
  });
  if (numbers)
    std::ranges::sort(documents, {}, [](const std::string& text) { return std::pair(std::stoll(text), text); });
  else
    std::ranges::sort(documents);
}

}  // namespace headwave
