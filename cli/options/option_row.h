#pragma once

#include <optional>
#include <string>
#include <type_traits>

#include <CLI/CLI.hpp>

namespace headwave::cli {

/// Adds options to a command, one for each call: name, value, placeholder, help, and a check of the value.
class OptionRows {
 public:
  /// @param group  heading of these options in --help; null: "Options"
  explicit OptionRows(CLI::App& command, const char* group = nullptr) : command_(command), group_(group) {}

  /// @param name   "--length"; "!--no-figures" sets a flag to false
  /// @param value  receives the option's value; a bool makes the option a flag
  /// @param takes  placeholder of the value in --help; null: N, X or TEXT, depending on the type of `value`
  template <class Value>
  CLI::Option* operator()(const char* name, Value& value, const char* takes, const std::string& help,
                          const std::optional<CLI::Validator>& check = {}) const {
    CLI::Option* option = nullptr;
    if constexpr (std::is_same_v<Value, bool>)
      option = command_.add_flag(name, value, help);
    else
      option = command_.add_option(name, value, help);
    if (check) option->check(*check);
    if (takes != nullptr) option->type_name(takes);
    if (group_ != nullptr) option->group(group_);
    return option;
  }

 private:
  CLI::App& command_;
  const char* group_;
};

}  // namespace headwave::cli
