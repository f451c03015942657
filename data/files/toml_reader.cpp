#include "toml_reader.h"

#include <cstddef>
#include <sstream>

#include <fmt/format.h>

#include "../../core/errors/error.h"
#include "file_bytes.h"
#include "printable.h"

namespace headwave {

toml::table toml_of_file(const std::filesystem::path& file, std::string_view what) {
  constexpr std::size_t largest_file = 1 << 20;  // settings fit on a page; a longer file is something else
  const FileBytes bytes(file);
  if (bytes.size() > largest_file)
    throw FormatError(
        fmt::format("{}: has {} bytes, expected {} of at most 1 MiB", shown_path(file), bytes.size(), what));
  return toml_of_text(file, bytes.text(0, bytes.size()));
}

toml::table toml_of_text(const std::filesystem::path& file, std::string_view text) {
  try {
    return toml::parse(text);
  } catch (const toml::parse_error& error) {
    throw FormatError(fmt::format("{}: line {}: {}", shown_path(file), error.source().begin.line,
                                  printable(std::string(error.description()), 120)));
  }
}

namespace {

template <class Node>
std::string printed(const Node& node) {
  std::ostringstream text;
  text << node;
  return text.str();
}

struct SettingText {
  std::string operator()(bool flag) const { return flag ? "true" : "false"; }
  std::string operator()(std::int64_t number) const { return std::to_string(number); }
  std::string operator()(double number) const {
    const std::string digits = fmt::format("{}", number);
    return digits.find_first_of(".e") == std::string::npos ? digits + ".0" : digits;
  }
  std::string operator()(const std::string& text) const { return printed(toml::value<std::string>(text)); }
  std::string operator()(const std::vector<std::string>& texts) const {
    toml::array list;
    for (const std::string& text : texts) list.push_back(text);
    return printed(list);
  }
};

}  // namespace

std::string toml_text(const Settings& settings) {
  std::string lines;
  for (const auto& [name, setting] : settings)
    lines += fmt::format("{}{} = {}", lines.empty() ? "" : "\n", name, std::visit(SettingText{}, setting));
  return lines;
}

}  // namespace headwave
