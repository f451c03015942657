#pragma once

#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>

namespace headwave::cli {

/// Another option that must be given beside one, or must not.
struct Companion {
  const char* option;
  bool needed;
  std::string why;
};
inline Companion only_with(const char* option, std::string why) {
  return {option, true, std::move(why)};
}
inline Companion not_with(const char* option, std::string why) {
  return {option, false, std::move(why)};
}

/// What the options of a command need and refuse.
class UsageRules {
 public:
  void add(const CLI::Option* option, std::vector<Companion> companions) {
    rules_.emplace_back(option, std::move(companions));
  }
  /// @throws CLI::ValidationError at the first option that would have no effect
  void require(const CLI::App& command) const {
    for (const auto& [option, companions] : rules_)
      for (const Companion& other : companions)
        // A stored job names some options where they have no effect, with the value that is usual.
        if (!option->empty() && option->reduced_results().front() != option->get_default_str() &&
            (command.count(other.option) > 0) != other.needed)
          throw CLI::ValidationError(option->get_name(), other.why);
  }

 private:
  std::vector<std::pair<const CLI::Option*, std::vector<Companion>>> rules_;
};

/// Adds options to a command, one row each: name, value, placeholder, help, values that it takes, companions.
class OptionRows {
 public:
  /// @param group  heading in --help; null: Options
  /// @param rules  of the rows' companions, if any has some
  explicit OptionRows(CLI::App& command, const char* group = nullptr, UsageRules* rules = nullptr)
      : command_(command), group_(group), rules_(rules) {}

  /// @param name   "--length"; "!--no-figures" sets a flag to false
  /// @param value  of a bool the option is a flag
  /// @param takes  placeholder of the value in --help; null: N, X or TEXT by its type
  template <class Value>
  CLI::Option* operator()(const char* name, Value& value, const char* takes, const std::string& help,
                          const std::optional<CLI::Validator>& check = {},
                          std::vector<Companion> companions = {}) const {
    CLI::Option* option = nullptr;
    if constexpr (std::is_same_v<Value, bool>)
      option = command_.add_flag(name, value, help);
    else
      option = command_.add_option(name, value, help);
    if (check) option->check(*check);
    if (takes != nullptr) option->type_name(takes);
    if (group_ != nullptr) option->group(group_);
    if (!companions.empty()) rules_->add(option, std::move(companions));
    return option;
  }

 private:
  CLI::App& command_;
  const char* group_;
  UsageRules* rules_;
};

}  // namespace headwave::cli
