#include "regular_expression.h"

#include <algorithm>
#include <array>
#include <memory>
#include <new>
#include <utility>

#include <fmt/format.h>
// Oniguruma's short name for OnigUChar is a type of ICU.
#define ONIG_ESCAPE_UCHAR_COLLISION
#include <oniguruma.h>

#include "../../core/errors/error.h"
#include "../files/printable.h"
#include "../files/unicode_text.h"

namespace headwave {

namespace {

const OnigUChar* onig_begin(std::string_view text) {
  return reinterpret_cast<const OnigUChar*>(text.data());
}

const OnigUChar* onig_end_of(std::string_view text) {
  return onig_begin(text) + text.size();
}

std::string oniguruma_message(int code, OnigErrorInfo* about = nullptr) {
  std::array<OnigUChar, ONIG_MAX_ERROR_MESSAGE_LEN> text{};
  const int length = onig_error_code_to_str(text.data(), code, about);
  return printable({reinterpret_cast<const char*>(text.data()), static_cast<std::size_t>(length)});
}

template <class Handle>
using Owned = std::unique_ptr<Handle, void (*)(Handle*)>;

/// A compiled expression. Matching only reads it, so several threads may use it.
class Expression {
 public:
  Expression(std::string_view ruby, std::string place) : place_(std::move(place)) {
    static const int initialized = [] {
      OnigEncoding utf8 = ONIG_ENCODING_UTF8;
      return onig_initialize(&utf8, 1);
    }();
    OnigErrorInfo about{};
    regex_t* compiled = nullptr;
    const int code = initialized != ONIG_NORMAL
                         ? initialized
                         : onig_new(&compiled, onig_begin(ruby), onig_end_of(ruby), ONIG_OPTION_NONE,
                                    ONIG_ENCODING_UTF8, ONIG_SYNTAX_RUBY, &about);
    if (code != ONIG_NORMAL)
      throw FormatError(fmt::format("{}: the regular expression '{}' does not compile: {}", place_, printable(ruby),
                                    oniguruma_message(code, &about)));
    expression_.reset(compiled);
  }

  [[nodiscard]] std::vector<TextRange> matches(std::string_view text) const {
    const Owned<OnigRegion> region(onig_region_new(), [](OnigRegion* owned) { onig_region_free(owned, 1); });
    if (!region) throw std::bad_alloc();
    std::vector<TextRange> found;
    for (std::size_t at = 0; at <= text.size();) {
      // (The library gives up if an expression takes exponential time.)
      const int code = onig_search(expression_.get(), onig_begin(text), onig_end_of(text), onig_begin(text) + at,
                                   onig_end_of(text), region.get(), ONIG_OPTION_NONE);
      if (code == ONIG_MISMATCH) break;
      if (code < 0)
        throw FormatError(fmt::format("{}: the regular expression fails at byte {} of a text of {} bytes: {}", place_,
                                      at, text.size(), oniguruma_message(code)));
      TextRange range{static_cast<std::size_t>(region->beg[0]), static_cast<std::size_t>(region->end[0])};
      range.begin = std::max(range.begin, at);  // \K may put it before the end of the last match
      range.end = std::max(range.begin, range.end);
      const bool counts = range.begin < range.end || found.empty() || found.back().end != range.begin;
      if (counts) found.push_back(range);
      at = counts ? range.end : at + (at < text.size() ? utf8_length(text[at]) : 1);
    }
    return found;
  }

 private:
  std::string place_;
  Owned<regex_t> expression_{nullptr, onig_free};
};

}  // namespace

TextFinder regular_expression(std::string_view ruby, const std::string& place) {
  return [expression = std::make_shared<const Expression>(ruby, place)](std::string_view text) {
    return expression->matches(text);
  };
}

TextFinder fixed_string(std::string text) {
  return [wanted = std::move(text)](std::string_view within) {
    std::vector<TextRange> found;
    for (std::size_t at = wanted.empty() ? within.npos : within.find(wanted); at != within.npos;
         at = within.find(wanted, found.back().end))
      found.push_back({at, at + wanted.size()});
    return found;
  };
}

TextFinder single_character(bool (*wanted)(char32_t)) {
  return [wanted](std::string_view text) {
    std::vector<TextRange> found;
    for (std::size_t at = 0; at < text.size(); at += utf8_length(text[at]))
      if (wanted(code_point(text, at))) found.push_back({at, at + utf8_length(text[at])});
    return found;
  };
}

}  // namespace headwave
