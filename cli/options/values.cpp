#include "values.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <map>
#include <optional>
#include <utility>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "../../core/errors/nearest_name.h"
#include "../../core/numbers/decimal_number.h"
#include "../../data/files/printable.h"

namespace headwave::cli {

namespace {

std::string shown(const std::string& text) {
  return printable(text, 60);
}

/// Digits without leading zeros: 010 would be eight to one reader and ten to another.
bool is_whole(const std::string& text, std::int64_t& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() && std::to_string(number) == text;
}

CLI::Validator whole(std::int64_t low, std::int64_t high, const std::string& range, bool or_none = false) {
  return {[=](std::string& text) {
            std::int64_t number = 0;
            if (is_whole(text, number) && ((number >= low && number <= high) || (or_none && number == 0)))
              return std::string();
            return fmt::format("expected a whole number, {}, got '{}'", range, shown(text));
          },
          ""};
}

std::string words_text(const std::vector<std::string>& words) {
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i)
    text += (i == 0 ? "" : i + 1 < words.size() ? ", " : " or ") + words[i];
  return text;
}

/// The number of bytes of a size; nothing if the text is not a size.
std::optional<double> bytes_in(const std::string& text) {
  static const std::map<std::string, double, std::less<>> units{
      {"kB", 1e3},     {"MB", 1e6},        {"GB", 1e9},           {"TB", 1e12},
      {"KiB", 1024.0}, {"MiB", 1048576.0}, {"GiB", 1073741824.0}, {"TiB", 1099511627776.0}};
  const std::size_t digits = std::min(text.find_first_not_of("0123456789."), text.size());
  const std::optional<double> number = decimal_number(std::string_view(text).substr(0, digits));
  const auto unit = units.find(std::string_view(text).substr(digits));
  if (!number || unit == units.end() || !(*number > 0) || *number > 1e6) return std::nullopt;
  return *number * unit->second;
}

}  // namespace

CLI::Validator whole_number(std::int64_t low, std::int64_t high) {
  return whole(low, high, fmt::format("{} to {}", low, high));
}

CLI::Validator none_or_whole_number(std::int64_t low, std::int64_t high) {
  return whole(low, high, fmt::format("0, or {} to {}", low, high), true);
}

CLI::Validator not_negative() {
  return whole(0, std::numeric_limits<std::int64_t>::max(), "at least 0 and below 2^63");
}

CLI::Validator real_number(double low, double high) {
  const std::string range = fmt::format("{:g} to {:g}", low, high);
  return {[=](std::string& text) {
            const std::optional<double> number = decimal_number(text);
            if (number && *number >= low && *number <= high) return std::string();
            return fmt::format("expected a number, {}, got '{}'", range, shown(text));
          },
          ""};
}

CLI::Validator byte_size() {
  return {[](std::string& text) {
            if (bytes_in(text)) return std::string();
            return fmt::format("expected a size such as 512MB, 1.5GB or 2GiB, got '{}'", shown(text));
          },
          ""};
}

std::int64_t bytes_of(const std::string& size) {
  return static_cast<std::int64_t>(bytes_in(size).value_or(0));
}

CLI::Validator one_of(std::vector<std::string> words) {
  std::string description = words_text(words);
  return {[words = std::move(words)](std::string& text) {
            for (const std::string& word : words)
              if (text == word) return std::string();
            const std::string meant = did_you_mean(text, words);
            return meant.empty() ? fmt::format("expected {}, got '{}'", words_text(words), shown(text))
                                 : fmt::format("there is no '{}'{}", shown(text), meant);
          },
          std::move(description)};
}

}  // namespace headwave::cli
