#include "npy_header.h"

#include <charconv>
#include <set>

#include <fmt/format.h>

#include "../../core/errors/error.h"
#include "../files/printable.h"

namespace headwave {

namespace {

// A reader of the few Python literals that NumPy writes. It goes forward only, and never deeper than a structured type
// needs.
class Literal {
 public:
  Literal(std::string_view text, const std::string& file) : text_(text), file_(file) {}

  [[noreturn]] void refuse(const std::string& expected) const {
    throw FormatError(fmt::format("{}: byte {} of the npy header: expected {}, found '{}'", file_, at_, expected,
                                  printable(text_.substr(at_, 20))));
  }

  void skip_spaces() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t' || text_[at_] == '\r'))
      ++at_;
  }
  [[nodiscard]] char next() {
    skip_spaces();
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  bool take(char c) {
    if (next() != c) return false;
    ++at_;
    return true;
  }
  void demand(char c) {
    if (!take(c)) refuse(fmt::format("'{}'", c));
  }
  void demand_end() {
    if (next() != '\0' || at_ != text_.size()) refuse("the end");
  }

  std::string string() {
    const char quote = next();
    if (quote != '\'' && quote != '"') refuse("a text in quotes");
    const std::size_t end = text_.find(quote, at_ + 1);
    const std::string_view inside = text_.substr(at_ + 1, end - at_ - 1);
    // NumPy writes no escapes in types; in the names of a structured array's columns they do not matter here.
    if (end == text_.npos || inside.find_first_of(std::string_view("\\\0\n", 3)) != inside.npos)
      refuse("a text in quotes on one line without backslashes");
    at_ = end + 1;
    return std::string(inside);
  }

  bool boolean() {
    skip_spaces();
    for (const bool value : {true, false}) {
      const std::string_view word = value ? "True" : "False";
      if (text_.substr(at_).starts_with(word)) {
        at_ += word.size();
        return value;
      }
    }
    refuse("True or False");
  }

  Index size() {
    skip_spaces();
    Index value = 0;
    const char* end = text_.data() + text_.size();
    const auto [stop, problem] = std::from_chars(text_.data() + at_, end, value);
    if (problem != std::errc() || value < 0) refuse("a size from 0 to 2^63 - 1");
    at_ = static_cast<std::size_t>(stop - text_.data());
    take('L');  // Python 2 wrote 3L
    return value;
  }

  std::vector<Index> tuple() {
    demand('(');
    std::vector<Index> sizes;
    while (!take(')')) {
      sizes.push_back(size());
      if (take(',')) continue;
      if (sizes.size() == 1) refuse("',' after the only size");
      demand(')');
      break;
    }
    return sizes;
  }

  // The type of a structured array, a list of tuples, is kept as text: it is listed and never read.
  std::string list(int depth = 0) {
    const std::size_t start = at_;
    if (depth > 16) refuse("a type nested less than 16 deep");
    if (!take('[') && !take('(')) refuse("a list");
    const char closing = text_[at_ - 1] == '[' ? ']' : ')';
    while (!take(closing)) {
      const char c = next();
      if (c == '[' || c == '(')
        list(depth + 1);
      else if (c == '\'' || c == '"')
        string();
      else
        size();
      if (!take(',') && next() != closing) refuse(fmt::format("',' or '{}'", closing));
    }
    return std::string(text_.substr(start, at_ - start));
  }

 private:
  std::string_view text_;
  const std::string& file_;
  std::size_t at_ = 0;
};

}  // namespace

NpyInfo npy_header(std::string_view text, const std::string& file) {
  Literal header(text, file);
  NpyInfo info;
  std::set<std::string> keys;
  header.demand('{');
  while (!header.take('}')) {
    const std::string key = header.string();
    if (!keys.insert(key).second) header.refuse(fmt::format("the key '{}' once", printable(key)));
    header.demand(':');
    if (key == "descr") {
      info.descr = header.next() == '[' ? header.list() : header.string();
    } else if (key == "fortran_order") {
      info.fortran_order = header.boolean();
    } else if (key == "shape") {
      info.shape = header.tuple();
    } else {
      header.refuse(fmt::format("one of the keys descr, fortran_order and shape, not '{}',", printable(key)));
    }
    if (header.take(',')) continue;
    header.demand('}');
    break;
  }
  header.demand_end();
  if (keys.size() != 3) header.refuse("the keys descr, fortran_order and shape");
  return info;
}

}  // namespace headwave
