#include "map_expression.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "../../core/errors/error.h"
#include "../files/printable.h"

namespace headwave {

/// Evaluates while it parses; a part that does not matter, such as what follows `else`, is parsed alone.
class ExpressionParser {
 public:
  using Value = std::optional<double>;

  ExpressionParser(const MapExpressions& map, std::string_view text, std::optional<Index> layer, int depth)
      : map_(map), text_(text), layer_(layer), depth_(depth) {}

  Value whole() {
    const Value value = otherwise();
    if (!next().empty()) fail();
    return value;
  }

  /// @throws FormatError naming the key that is missing
  double given() {
    const Value value = whole();
    if (!value) map_.config().fail(fmt::format("'{}' is missing; expected a number", missing_));
    return *value;
  }

  /// Whether the value comes from config.json, if only in part.
  [[nodiscard]] bool asked_config() const { return asked_config_; }

 private:
  [[noreturn]] void fail() const {
    throw FormatError(fmt::format("{}: \"{}\" is no expression from \"{}\" on; docs/model-map.md says what is one",
                                  map_.place_, printable(std::string(text_), 120),
                                  printable(std::string(text_.substr(at_)), 40)));
  }

  /// The token that comes next: a word, a number, a text in quotes, or a sign; empty at the end.
  std::string_view next() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
    if (at_ == text_.size()) return {};
    std::size_t end = at_ + 1;
    const auto is_word = [](char c) {
      return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.';
    };
    if (text_[at_] == '\'') {
      end = text_.find('\'', end);
      if (end == std::string_view::npos) fail();
      ++end;
    } else if (is_word(text_[at_])) {
      const bool number = std::isdigit(static_cast<unsigned char>(text_[at_])) != 0;
      while (end < text_.size() &&
             (is_word(text_[end]) || (number && text_[end] == '-' && (text_[end - 1] == 'e' || text_[end - 1] == 'E'))))
        ++end;
    } else if (std::string_view("=!<>").find(text_[at_]) != std::string_view::npos && text_.substr(end, 1) == "=") {
      ++end;
    }
    return text_.substr(at_, end - at_);
  }

  bool take(std::string_view token) {
    if (next() != token) return false;
    at_ += token.size();
    return true;
  }
  void expect(std::string_view token) {
    if (!take(token)) fail();
  }

  Value otherwise() {
    constexpr int deepest = 100;
    if (++depth_ > deepest) fail();
    Value value = either();
    if (take("else")) {
      const bool before = std::exchange(matters_, matters_ && !value);
      if (matters_) asked_config_ = false;
      const Value other = otherwise();
      if (matters_) value = other;
      matters_ = before;
    }
    --depth_;
    return value;
  }

  Value either() {
    Value value = both();
    while (take("or")) value = joined(value, 1, [&] { return both(); });
    return value;
  }

  Value both() {
    Value value = negated();
    while (take("and")) value = joined(value, 0, [&] { return negated(); });
    return value;
  }

  /// `and` and `or`: the right side counts only where the left side does not decide.
  template <class Right>
  Value joined(Value left, double decides, const Right& right) {
    const bool decided = left && (*left != 0) == (decides != 0);
    const bool before = std::exchange(matters_, matters_ && left && !decided);
    const Value other = right();
    matters_ = before;
    if (!left || decided) return left;
    return other ? Value(*other != 0 ? 1 : 0) : other;
  }

  Value negated() {
    if (!take("not")) return compared();
    const Value value = negated();
    return value ? Value(*value == 0 ? 1 : 0) : value;
  }

  template <class Operation>
  static Value both_given(Value left, Value right, const Operation& operation) {
    return left && right ? Value(static_cast<double>(operation(*left, *right))) : Value();
  }

  Value compared() {
    const Value left = sum();
    if (take("==")) return both_given(left, sum(), std::equal_to<>());
    if (take("!=")) return both_given(left, sum(), std::not_equal_to<>());
    if (take("<=")) return both_given(left, sum(), std::less_equal<>());
    if (take(">=")) return both_given(left, sum(), std::greater_equal<>());
    if (take("<")) return both_given(left, sum(), std::less<>());
    if (take(">")) return both_given(left, sum(), std::greater<>());
    return left;
  }

  Value sum() {
    Value value = term();
    for (;;) {
      if (take("+"))
        value = both_given(value, term(), std::plus<>());
      else if (take("-"))
        value = both_given(value, term(), std::minus<>());
      else
        return value;
    }
  }

  Value term() {
    Value value = factor();
    for (;;) {
      if (take("*"))
        value = both_given(value, factor(), std::multiplies<>());
      else if (take("/"))
        value = both_given(value, factor(), std::divides<>());
      else if (take("%"))
        value = both_given(value, factor(), [](double a, double b) { return std::fmod(a, b); });
      else
        return value;
    }
  }

  Value factor() {
    if (take("-")) return both_given(0.0, factor(), std::minus<>());
    if (take("(")) {
      const Value value = otherwise();
      expect(")");
      return value;
    }
    const std::string token(next());
    if (token.empty() || token.front() == '\'') fail();
    if (std::isdigit(static_cast<unsigned char>(token.front())) != 0) {
      double number = 0;
      const auto end = std::from_chars(token.data(), token.data() + token.size(), number);
      if (end.ec != std::errc() || end.ptr != token.data() + token.size()) fail();
      at_ += token.size();
      return number;
    }
    if (std::isalpha(static_cast<unsigned char>(token.front())) == 0 && token.front() != '_') fail();
    at_ += token.size();
    return take("(") ? called(token) : named(token);
  }

  Value named(const std::string& name) {
    if (name == "true" || name == "false") return name == "true" ? 1 : 0;
    if (name == "layer" && layer_) return static_cast<double>(*layer_);
    if (!matters_) return 0;
    Value value;
    if (const auto defined = map_.names_.find(name); defined != map_.names_.end()) {
      ExpressionParser inner(map_, defined->second, layer_, depth_ + 1);
      value = inner.whole();
      asked_config_ = asked_config_ || inner.asked_config_;
      if (!value) missing_ = inner.missing_;
    } else {
      value = map_.config().number(name);
      asked_config_ = true;
      if (!value) missing_ = name;
    }
    return value;
  }

  std::string quoted() {
    const std::string_view token = next();
    if (token.size() < 2 || token.front() != '\'') fail();
    at_ += token.size();
    return std::string(token.substr(1, token.size() - 2));
  }

  Value called(const std::string& function) {
    Value value;
    if (function == "sqrt" || function == "floor") {
      value = otherwise();
      if (value) value = function == "sqrt" ? std::sqrt(*value) : std::floor(*value);
    } else if (function == "tensor") {
      const std::string name = quoted();
      value = matters_ && map_.facts_.has(name) ? 1 : 0;
    } else if (function == "given" || function == "null" || function == "says") {
      const std::string key(next());
      at_ += key.size();
      std::vector<std::string> words;
      while (function == "says" && take(",")) words.push_back(quoted());
      value = matters_ && asked(function, key, words) ? 1 : 0;
    } else {
      fail();
    }
    expect(")");
    return value;
  }

  [[nodiscard]] bool asked(const std::string& function, const std::string& key,
                           const std::vector<std::string>& words) const {
    const ModelConfig& config = map_.config();
    if (function == "given") return config.has(key);
    if (function == "null") return config.is_null(key);
    const std::vector<std::string> said = config.words(key);
    return std::ranges::find_first_of(said, words) != said.end();
  }

  const MapExpressions& map_;
  std::string_view text_;
  std::optional<Index> layer_;
  int depth_;
  std::size_t at_ = 0;
  bool matters_ = true, asked_config_ = false;
  std::string missing_;
};

double MapExpressions::value(const std::string& text) const {
  ExpressionParser parser(*this, text, {}, 0);
  return parser.given();
}

Index MapExpressions::whole(const std::string& text) const {
  ExpressionParser parser(*this, text, {}, 0);
  const double value = parser.given();
  const int least = parser.asked_config() ? 1 : 0;
  if (value != std::floor(value)) config().fail(fmt::format("'{}' is {}, expected a whole number", text, value));
  if (!(value >= least) || value > static_cast<double>(largest_size))
    config().fail(fmt::format("'{}' is {}, expected {} to {}", text, value, least, largest_size));
  return static_cast<Index>(value);
}

double MapExpressions::positive(const std::string& text) const {
  const double number = value(text);
  if (!std::isfinite(number) || number <= 0)
    config().fail(fmt::format("'{}' is {}, expected a number above 0", text, number));
  return number;
}

bool MapExpressions::holds_in_layer(const std::string& text, Index layer) const {
  ExpressionParser parser(*this, text, layer, 0);
  return parser.given() != 0;
}

}  // namespace headwave
