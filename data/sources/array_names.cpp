#include "array_names.h"

#include <algorithm>
#include <array>
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

std::vector<std::string> names_by_layer(const std::string& word) {
  return {word + "/layer_{layer}", word + "_layer_{layer}", word + "/{layer}", word + "_{layer}"};
}

const std::vector<std::string>& usual_state_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all = names_by_layer("hidden_states");
    all.insert(all.end(), {"layer_{layer}/hidden_states", "layer_{layer}", "hidden_states", "states", "embeddings",
                           "last_hidden_state"});
    return all;
  }();
  return names;
}

const std::vector<std::string>& usual_attention_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all;
    for (const std::string word : {"attentions", "attention"}) {
      const std::vector<std::string> layers = names_by_layer(word);
      all.insert(all.end(), layers.begin(), layers.end());
      all.push_back("layer_{layer}/" + word);
    }
    all.insert(all.end(), {"attentions", "attention"});
    return all;
  }();
  return names;
}

std::vector<ArrayAxis> usual_axes(std::size_t count, bool projected, bool layers_named, bool one_document) {
  if (count == 2) return {ArrayAxis::token, ArrayAxis::width};
  if (count == 3)
    return one_document && !layers_named ? std::vector{ArrayAxis::layer, ArrayAxis::token, ArrayAxis::width}
                                         : std::vector{ArrayAxis::document, ArrayAxis::token, ArrayAxis::width};
  if (count == 4 && projected) return {ArrayAxis::document, ArrayAxis::head, ArrayAxis::token, ArrayAxis::width};
  if (count == 4 && !layers_named) return {ArrayAxis::layer, ArrayAxis::document, ArrayAxis::token, ArrayAxis::width};
  return {};
}

std::vector<ArrayAxis> usual_attention_axes(std::size_t count, bool layer_known, bool one_document) {
  constexpr std::array all{ArrayAxis::layer, ArrayAxis::document, ArrayAxis::head, ArrayAxis::query, ArrayAxis::key};
  if (count < 2 || count > all.size() || (count == all.size() && layer_known)) return {};
  if (count != 4) return {all.end() - static_cast<std::ptrdiff_t>(count), all.end()};
  if (layer_known) return {ArrayAxis::document, ArrayAxis::head, ArrayAxis::query, ArrayAxis::key};
  if (one_document) return {ArrayAxis::layer, ArrayAxis::head, ArrayAxis::query, ArrayAxis::key};
  return {};
}

}  // namespace headwave
