#include "toml_reader.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>

#include <fmt/format.h>

#include "../../core/errors/error.h"
#include "file_bytes.h"
#include "printable.h"

namespace headwave {

namespace {

/// Settings fit on a page; a longer file is of another kind.
constexpr std::size_t largest_file = 1 << 20;
/// A larger size is a typing error.
constexpr std::int64_t largest_whole = 1 << 26;

template <class Value>
void read_one(TomlReader& reader, std::string_view key, Value& value, const char* expected) {
  const toml::node* node = reader.look(key);
  if (node == nullptr) return;
  if (node->as<Value>() == nullptr) reader.fail(key, expected);
  value = node->as<Value>()->get();
}

/// A dotted key is as many nested tables as it has parts, which the parser destroys recursively: some ten thousand
/// overflow the stack.
void require_shallow_keys(const std::filesystem::path& file, std::string_view text) {
  constexpr std::ptrdiff_t most_dots = 1000;
  for (std::size_t begin = 0, number = 1; begin < text.size(); ++number) {
    const std::string_view line = text.substr(begin, text.find('\n', begin) - begin);
    if (const auto dots = std::ranges::count(line, '.'); dots > most_dots)
      throw FormatError(fmt::format("{}: line {}: {} dots, expected at most {}: names of so many parts are not read",
                                    shown_path(file), number, dots, most_dots));
    begin += line.size() + 1;
  }
}

}  // namespace

toml::table toml_of_file(const std::filesystem::path& file, std::string_view what) {
  const FileBytes bytes(file);
  if (bytes.size() > largest_file)
    throw FormatError(fmt::format("{}: {} bytes, expected {} of at most 1 MB", shown_path(file), bytes.size(), what));
  return toml_of_text(file, bytes.text(0, bytes.size()));
}

toml::table toml_of_text(const std::filesystem::path& file, std::string_view text) {
  require_shallow_keys(file, text);
  try {
    return toml::parse(text);
  } catch (const toml::parse_error& error) {
    throw FormatError(fmt::format("{}: line {}: {}", shown_path(file), error.source().begin.line,
                                  printable(std::string(error.description()), 120)));
  }
}

void TomlReader::fail(std::string_view key, const std::string& expected) const {
  throw FormatError(fmt::format("{}: '{}' should be {}; {} explains the keys", place_, key, expected, page_));
}

void TomlReader::operator()(std::string_view key, Index& value) {
  const toml::node* node = look(key);
  if (node == nullptr) return;
  const auto number = node->is_integer() ? node->value<std::int64_t>() : std::nullopt;
  if (!number || *number < 0 || *number > largest_whole)
    fail(key, fmt::format("a whole number from 0 to {}", largest_whole));
  value = static_cast<Index>(*number);
}

void TomlReader::operator()(std::string_view key, double& value) {
  const toml::node* node = look(key);
  if (node == nullptr) return;
  const auto number = node->is_number() ? node->value<double>() : std::nullopt;
  if (!number || !std::isfinite(*number) || *number < 0) fail(key, "a number that is not below 0");
  value = *number;
}

void TomlReader::operator()(std::string_view key, float& value) {
  auto number = static_cast<double>(value);
  (*this)(key, number);
  value = static_cast<float>(number);
}

void TomlReader::operator()(std::string_view key, bool& value) {
  read_one(*this, key, value, "true or false");
}

void TomlReader::operator()(std::string_view key, std::string& value) {
  read_one(*this, key, value, "a name, as text");
}

const toml::node* TomlReader::look(std::string_view key) {
  seen_.insert(std::string(key));
  return table_.get(key);
}

void TomlReader::refuse_others() const {
  for (const auto& [key, node] : table_)
    if (!seen_.contains(std::string(key.str())))
      throw FormatError(fmt::format("{}: '{}' is not a key that is known here; {} explains the keys", place_,
                                    printable(std::string(key.str()), 60), page_));
}

}  // namespace headwave
