#include "regular_expression.h"

#include <algorithm>
#include <cstdint>
#include <new>
#include <utility>

#define PCRE2_CODE_UNIT_WIDTH 8
#include <fmt/format.h>
#include <pcre2.h>

#include "../../core/errors/error.h"
#include "../files/printable.h"
#include "../files/unicode_text.h"
#include "ruby_syntax.h"

namespace headwave {

namespace {

constexpr std::size_t longest_expression = std::size_t{1} << 14U;
constexpr std::uint32_t most_steps = 1000000;
constexpr std::uint32_t most_heap = 1U << 16U;  // KiB

std::string pcre2_message(int code) {
  PCRE2_UCHAR8 text[256] = {};
  pcre2_get_error_message_8(code, text, sizeof text);
  return reinterpret_cast<const char*>(text);
}

template <class Handle, class Free>
std::shared_ptr<Handle> owned(Handle* handle, Free free) {
  if (handle == nullptr) throw std::bad_alloc();
  return {handle, free};
}

/// A compiled expression and the limits it runs under; read only, so several threads may use it.
class Expression {
 public:
  Expression(std::string_view ruby, std::string place)
      : place_(std::move(place)), limits_(owned(pcre2_match_context_create_8(nullptr), &pcre2_match_context_free_8)) {
    if (ruby.size() > longest_expression)
      throw FormatError(fmt::format("{}: a regular expression of {} bytes, at most {} are read", place_, ruby.size(),
                                    longest_expression));
    const std::string pcre2 = pcre2_of_ruby(ruby, place_);
    const auto settings = owned(pcre2_compile_context_create_8(nullptr), &pcre2_compile_context_free_8);
    pcre2_set_newline_8(settings.get(), PCRE2_NEWLINE_LF);
    int code = 0;
    std::size_t at = 0;
    code_.reset(
        pcre2_compile_8(reinterpret_cast<PCRE2_SPTR8>(pcre2.data()), pcre2.size(),
                        PCRE2_UTF | PCRE2_UCP | PCRE2_MULTILINE | PCRE2_NEVER_BACKSLASH_C, &code, &at, settings.get()),
        &pcre2_code_free_8);
    if (code_ == nullptr)
      throw FormatError(fmt::format("{}: the regular expression '{}' does not compile: {}", place_, printable(ruby),
                                    pcre2_message(code)));
    pcre2_jit_compile_8(code_.get(),
                        PCRE2_JIT_COMPLETE);  // where there is no compiler for the machine, it is interpreted
    pcre2_set_match_limit_8(limits_.get(), most_steps);
    pcre2_set_heap_limit_8(limits_.get(), most_heap);
  }

  [[nodiscard]] std::vector<TextRange> matches(std::string_view text) const {
    const auto match = owned(pcre2_match_data_create_8(1, nullptr), &pcre2_match_data_free_8);
    std::vector<TextRange> found;
    for (std::size_t at = 0; at <= text.size();) {
      if (!is_found(text, at, match.get())) break;
      const std::size_t* ends = pcre2_get_ovector_pointer_8(match.get());
      const TextRange range{ends[0], ends[1]};
      const bool empty = range.begin >= range.end;
      const bool counts = !empty || found.empty() || found.back().end != range.begin;
      if (counts) found.push_back({range.begin, std::max(range.begin, range.end)});
      at = counts ? found.back().end : at + (at < text.size() ? utf8_length(text[at]) : 1);
    }
    return found;
  }

 private:
  // The text is known to be well-formed; checking it at every call would take quadratic time.
  bool is_found(std::string_view text, std::size_t at, pcre2_match_data_8* match) const {
    const auto* begin = reinterpret_cast<PCRE2_SPTR8>(text.data());
    int code = pcre2_match_8(code_.get(), begin, text.size(), at, PCRE2_NO_UTF_CHECK, match, limits_.get());
    if (code == PCRE2_ERROR_JIT_STACKLIMIT)
      code =
          pcre2_match_8(code_.get(), begin, text.size(), at, PCRE2_NO_UTF_CHECK | PCRE2_NO_JIT, match, limits_.get());
    if (code < 0 && code != PCRE2_ERROR_NOMATCH)
      throw FormatError(fmt::format("{}: the regular expression fails at byte {} of a text of {}: {}", place_, at,
                                    text.size(), pcre2_message(code)));
    return code >= 0;
  }

  std::string place_;
  std::shared_ptr<pcre2_code_8> code_;
  std::shared_ptr<pcre2_match_context_8> limits_;
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
