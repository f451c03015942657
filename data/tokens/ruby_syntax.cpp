#include "ruby_syntax.h"

#include <array>
#include <utility>

#include <fmt/format.h>

#include "../../core/errors/error.h"
#include "../files/printable.h"
#include "../files/unicode_text.h"

namespace headwave {

namespace {

// White_Space and what is not. PCRE2's own \s has U+180E, which Unicode's has not.
constexpr std::string_view spaces =
    R"(\t-\r \x{85}\x{A0}\x{1680}\x{2000}-\x{200A}\x{2028}\x{2029}\x{202F}\x{205F}\x{3000})";
constexpr std::string_view no_spaces =
    R"(\x{0}-\x{8}\x{E}-\x{1F}!-\x{84}\x{86}-\x{9F}\x{A1}-\x{167F}\x{1681}-\x{1FFF}\x{200B}-\x{2027}\x{202A}-\x{202E})"
    R"(\x{2030}-\x{205E}\x{2060}-\x{2FFF}\x{3001}-\x{10FFFF})";
constexpr std::string_view word_characters = R"(\p{Alphabetic}\p{M}\p{Nd}\p{Pc})";

bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

bool is_hexadecimal(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

/// Writes an expression of Ruby's syntax in PCRE2's, piece by piece.
class RubySyntax {
 public:
  RubySyntax(std::string_view ruby, const std::string& place) : ruby_(ruby), place_(place) {}

  std::string in_pcre2() {
    while (at_ < ruby_.size()) {
      const char c = ruby_[at_];
      if (c == '\\')
        escape(false);
      else if (c == '[')
        bracket();
      else if (c == '(')
        group();
      else if (c == '{')
        braces();
      else
        copy(1);
    }
    return std::move(out_);
  }

 private:
  [[noreturn]] void refuse(std::size_t length) const {
    throw FormatError(fmt::format(
        "{}: '{}' at byte {} of the regular expression '{}' is not known here: leaving it out would change ids", place_,
        printable(ruby_.substr(at_, length)), at_, printable(ruby_)));
  }

  [[nodiscard]] char peek(std::size_t ahead) const { return at_ + ahead < ruby_.size() ? ruby_[at_ + ahead] : '\0'; }

  void copy(std::size_t length) {
    out_ += ruby_.substr(at_, length);
    at_ += length;
  }

  void write(std::string_view pcre2, std::size_t length) {
    out_ += pcre2;
    at_ += length;
  }

  void characters(std::string_view inside, std::size_t length, bool in_class, std::string_view opened) {
    if (in_class)
      write(inside, length);
    else
      write(std::string(opened).append(inside).append("]"), length);
  }

  void group() {
    if (peek(1) != '?') return copy(1);
    constexpr std::array<std::string_view, 7> known = {"(?:", "(?=", "(?!", "(?>", "(?<=", "(?<!", "(?i:"};
    for (const std::string_view opening : known)
      if (ruby_.substr(at_).starts_with(opening)) return copy(opening.size());
    if (at_ == 0 && ruby_.starts_with("(?i)")) return copy(4);
    refuse(4);
  }

  // {n}, {n,} and {n,m}; {,n} and a sign of possession after it mean something else in PCRE2.
  void braces() {
    std::size_t length = 1;
    while (is_digit(peek(length)) || peek(length) == ',') ++length;
    if (peek(length) != '}' || !is_digit(peek(1)) || peek(length + 1) == '+') refuse(length + 1);
    copy(length + 1);
  }

  // A bracket within a bracket adds to it.
  void bracket() {
    const std::size_t begin = at_;
    copy(1);
    if (peek(0) == '^') copy(1);
    if (peek(0) == ']') refuse(1);
    for (int depth = 1; depth > 0;) {
      if (at_ >= ruby_.size()) {
        at_ = begin;
        refuse(1);
      }
      const char c = ruby_[at_];
      if (c == '\\') {
        escape(true);
      } else if (c == '[') {
        if (peek(1) == '^' || peek(1) == ':' || peek(1) == ']') refuse(2);
        ++depth;
        ++at_;
      } else if (c == ']') {
        if (--depth == 0)
          copy(1);
        else
          ++at_;
      } else {
        if (c == '&' && peek(1) == '&') refuse(2);
        copy(1);
      }
    }
  }

  void escape(bool in_class) {
    const char c = peek(1);
    if (c == '\0') refuse(1);
    if (!is_letter(c) && !is_digit(c)) return copy(1 + utf8_length(c));
    switch (c) {
      case 's':
        return characters(spaces, 2, in_class, "[");
      case 'S':
        return characters(no_spaces, 2, in_class, "[");
      case 'd':
        return write("\\p{Nd}", 2);
      case 'D':
        return write("\\P{Nd}", 2);
      case 'w':
        return characters(word_characters, 2, in_class, "[");
      case 'W':
        if (in_class) refuse(2);
        return characters(word_characters, 2, in_class, "[^");
      case 'n':
      case 'r':
      case 't':
      case 'f':
        return copy(2);
      case 'v':
        return write("\\x0B", 2);
      case 'A':
      case 'z':
      case 'Z':
        if (in_class) refuse(2);
        return copy(2);
      case 'p':
      case 'P':
        return property();
      case 'u':
      case 'x':
        return number();
      default:
        refuse(2);
    }
  }

  // \p{L}, \p{^L}, \P{Lu}; longer names are those of scripts.
  void property() {
    std::size_t begin = 3;
    const bool negated = peek(begin) == '^';
    if (negated) ++begin;
    std::size_t end = begin;
    while (is_letter(peek(end)) || peek(end) == '_') ++end;
    if (peek(2) != '{' || peek(end) != '}' || begin == end) refuse(end + 1);
    const std::string_view name = ruby_.substr(at_ + begin, end - begin);
    out_ += fmt::format("\\{}{{{}{}}}", negated == (peek(1) == 'P') ? 'p' : 'P', name.size() > 2 ? "sc:" : "", name);
    at_ += end + 1;
  }

  // \u4E00, \x{4E00}, \x0A; beyond 7F two digits are a byte.
  void number() {
    const bool braced = peek(1) == 'x' && peek(2) == '{';
    const std::size_t begin = braced ? 3 : 2;
    const std::size_t most = braced ? 6 : peek(1) == 'u' ? 4 : 2;
    std::size_t end = begin;
    while (end < begin + most && is_hexadecimal(peek(end))) ++end;
    const bool whole = braced ? end > begin && peek(end) == '}' : end == begin + most;
    if (!whole || (most == 2 && peek(2) > '7')) refuse(end + 1);
    out_ += fmt::format("\\x{{{}}}", ruby_.substr(at_ + begin, end - begin));
    at_ += end + (braced ? 1 : 0);
  }

  std::string_view ruby_;
  const std::string& place_;
  std::string out_;
  std::size_t at_ = 0;
};

}  // namespace

std::string pcre2_of_ruby(std::string_view ruby, const std::string& place) {
  return RubySyntax(ruby, place).in_pcre2();
}

}  // namespace headwave
