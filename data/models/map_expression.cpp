#include "map_expression.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "../../core/errors/error.h"
#include "../../core/numbers/decimal_number.h"
#include "../files/printable.h"

namespace headwave {

namespace {

/// Operators by binding strength, the weakest first.
const std::vector<std::vector<std::string_view>>& operators() {
  static const std::vector<std::vector<std::string_view>> levels{
      {"else"}, {"or"}, {"and"}, {"not"}, {"==", "!=", "<=", ">=", "<", ">"}, {"+", "-"}, {"*", "/", "%"}};
  return levels;
}

double combined(std::string_view sign, double a, double b) {
  if (sign == "or") return a != 0 || b != 0 ? 1 : 0;
  if (sign == "and") return a != 0 && b != 0 ? 1 : 0;
  if (sign == "==") return a == b ? 1 : 0;
  if (sign == "!=") return a != b ? 1 : 0;
  if (sign == "<=") return a <= b ? 1 : 0;
  if (sign == ">=") return a >= b ? 1 : 0;
  if (sign == "<") return a < b ? 1 : 0;
  if (sign == ">") return a > b ? 1 : 0;
  if (sign == "+") return a + b;
  if (sign == "-") return a - b;
  if (sign == "*") return a * b;
  return sign == "/" ? a / b : std::fmod(a, b);
}

bool is_digit(char c) {
  return std::isdigit(static_cast<unsigned char>(c)) != 0;
}

bool is_of_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.';
}

}  // namespace

/// Evaluates while parsing. Parts that do not matter, such as what follows a decided `else`, are only parsed.
class ExpressionParser {
 public:
  using Value = std::optional<double>;

  ExpressionParser(const MapExpressions& map, std::string_view text, std::optional<Index> layer, int depth = 0)
      : map_(map), text_(text), layer_(layer), depth_(depth) {}

  Value whole() {
    const Value value = nested();
    if (!next().empty()) fail();
    return value;
  }

  /// @throws FormatError naming the key that is missing
  double given() {
    const Value value = whole();
    if (!value) map_.config().fail(fmt::format("'{}' is missing; expected a number", missing_));
    return *value;
  }

  /// Whether the value comes from config.json, at least in part.
  [[nodiscard]] bool asked_config() const { return asked_config_; }

 private:
  [[noreturn]] void fail() const {
    throw FormatError(
        fmt::format("{}: the expression \"{}\" is malformed from \"{}\" on; docs/model-map.md explains expressions",
                    map_.place_, printable(std::string(text_), 120), printable(std::string(text_.substr(at_)), 40)));
  }

  /// The next token: a word, a number, a quoted text, or a sign; empty at the end.
  std::string_view next() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
    if (at_ == text_.size()) return {};
    std::size_t end = at_ + 1;
    if (text_[at_] == '\'') {
      end = text_.find('\'', end);
      if (end == std::string_view::npos) fail();
      ++end;
    } else if (is_of_word(text_[at_])) {
      const auto exponent = [&] { return is_digit(text_[at_]) && text_[end] == '-' && text_[end - 1] == 'e'; };
      while (end < text_.size() && (is_of_word(text_[end]) || exponent())) ++end;
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

  Value nested() {
    constexpr int deepest = 100;
    if (++depth_ > deepest) fail();
    const Value value = binary(0);
    --depth_;
    return value;
  }

  Value binary(std::size_t level) {
    if (level == operators().size()) return factor();
    const std::vector<std::string_view>& signs = operators()[level];
    if (signs.front() == "not") {
      if (!take("not")) return binary(level + 1);
      const Value value = binary(level);
      return value ? Value(*value == 0 ? 1 : 0) : value;
    }
    Value left = binary(level + 1);
    for (std::string_view sign = next(); std::ranges::find(signs, sign) != signs.end(); sign = next()) {
      at_ += sign.size();
      const bool otherwise = sign == "else";
      const bool decided =
          otherwise ? left.has_value() : !left || (sign == "or" && *left != 0) || (sign == "and" && *left == 0);
      const bool before = std::exchange(matters_, matters_ && !decided);
      if (otherwise && matters_) asked_config_ = false;
      const Value right = binary(level + 1);
      if (matters_) left = otherwise || !right ? right : Value(combined(sign, *left, *right));
      matters_ = before;
    }
    return left;
  }

  Value factor() {
    if (take("-")) {
      const Value value = factor();
      return value ? Value(-*value) : value;
    }
    if (take("(")) {
      const Value value = nested();
      if (!take(")")) fail();
      return value;
    }
    const std::string token(next());
    if (token.empty() || !is_of_word(token.front()) || token.front() == '.') fail();
    if (is_digit(token.front())) {
      const std::optional<double> number = decimal_number(token);
      if (!number) fail();
      at_ += token.size();
      return *number;
    }
    at_ += token.size();
    return take("(") ? called(token) : named(token);
  }

  Value named(const std::string& name) {
    if (name == "true" || name == "false") return name == "true" ? 1 : 0;
    if (name == "layer" && layer_) return static_cast<double>(*layer_);
    if (!matters_) return 0;
    if (const auto defined = map_.names_.find(name); defined != map_.names_.end()) {
      ExpressionParser inner(map_, defined->second, layer_, depth_ + 1);
      const Value value = inner.whole();
      asked_config_ = asked_config_ || inner.asked_config_;
      if (!value) missing_ = inner.missing_;
      return value;
    }
    const Value value = map_.config().number(name);
    asked_config_ = true;
    if (!value) missing_ = name;
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
    if (function == "sqrt" || function == "floor" || function == "ln") {
      value = nested();
      if (value)
        value = function == "sqrt" ? std::sqrt(*value) : function == "ln" ? std::log(*value) : std::floor(*value);
    } else if (function == "lists") {
      const std::string key(next());
      at_ += key.size();
      if (!take(",")) fail();
      value = nested();
      if (value && matters_) value = std::ranges::count(map_.config().numbers(key), *value) > 0 ? 1 : 0;
    } else if (function == "tensor") {
      const std::string name = quoted();
      value = matters_ && map_.facts_.has(name) ? 1 : 0;
    } else if (function == "given" || function == "null" || function == "says" || function == "picks") {
      const std::string key(next());
      at_ += key.size();
      std::vector<std::string> words;
      while ((function == "says" || function == "picks") && take(",")) words.push_back(quoted());
      if (function == "picks" && (!layer_ || words.empty())) fail();
      value = 0;
      if (matters_) value = function == "picks" ? picked(key, words) : Value(asked(function, key, words) ? 1 : 0);
    } else {
      fail();
    }
    if (!take(")")) fail();
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

  /// Whether a list has the first of the words for this layer.
  Value picked(const std::string& key, const std::vector<std::string>& words) {
    const ModelConfig& config = map_.config();
    if (!config.has(key)) {
      missing_ = key;
      return {};
    }
    const std::string word = config.by_layer(key, *layer_ + 1).back();
    if (words.size() > 1 && std::ranges::find(words, word) == words.end())
      config.fail(fmt::format("'{}' contains '{}', expected {}", key, printable(word, 60), fmt::join(words, " or ")));
    return word == words.front() ? 1 : 0;
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
  return ExpressionParser(*this, text, {}).given();
}

Index MapExpressions::whole(const std::string& text) const {
  ExpressionParser parser(*this, text, {});
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

std::optional<bool> MapExpressions::holds_in_layer(const std::string& text, Index layer) const {
  const std::optional<double> value = ExpressionParser(*this, text, layer).whole();
  return value ? std::optional(*value != 0) : std::nullopt;
}

}  // namespace headwave
