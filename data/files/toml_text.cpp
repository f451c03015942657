#include "toml_text.h"

#include <sstream>

#include <fmt/format.h>
#define TOML_EXCEPTIONS 1
#include <toml++/toml.h>

namespace headwave {

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
