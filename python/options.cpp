#include "options.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "../analysis/registry/job_option_table.h"
#include "../core/errors/error.h"
#include "../core/errors/nearest_name.h"
#include "../data/files/toml_reader.h"
#include "../job/run/map_window.h"

namespace headwave::python {

namespace {

[[noreturn]] void refuse(std::string_view name, nb::handle value, std::string_view expected) {
  std::string shown = nb::cast<std::string>(nb::repr(value));
  if (shown.size() > 60 || shown.find('\n') != std::string::npos)
    shown = "of type " + nb::cast<std::string>(nb::str(nb::type_name(value.type())));
  throw FormatError(fmt::format("the option {} is {}, expected {}", name, shown, expected));
}

/// Sets an option by its name.
class OptionSetter {
 public:
  OptionSetter(JobOptions& options, std::string_view name, nb::handle value)
      : options_(options), name_(name), value_(value) {}
  template <class Member>
  void operator()(Member member) const {
    auto& option = value_of(options_, member);
    using Value = std::decay_t<decltype(option)>;
    if constexpr (std::is_same_v<Value, bool>) {
      if (!nb::try_cast<bool>(value_, option, false)) refuse(name_, value_, "True or False");
      return;
    }
    const bool convert = std::is_same_v<Value, double>;  // whole numbers are numbers, "5" is no whole number
    if (nb::isinstance<nb::bool_>(value_) || !nb::try_cast<Value>(value_, option, convert))
      refuse(name_, value_,
             std::is_same_v<Value, double>                     ? "a number"
             : std::is_same_v<Value, std::vector<std::string>> ? "a list of names"
                                                               : "a whole number that is not negative");
  }

 private:
  JobOptions& options_;
  std::string_view name_;
  nb::handle value_;
};

struct OptionSetting {
  const JobOptions& options;

  Setting operator()(double JobOptions::*member) const { return options.*member; }
  Setting operator()(bool JobOptions::*member) const { return options.*member; }
  Setting operator()(std::vector<std::string> JobOptions::*member) const { return options.*member; }
  template <class Member>  // of whole numbers
  Setting operator()(Member member) const {
    return static_cast<std::int64_t>(value_of(options, member));
  }
};

Setting setting_of(const std::string& name, nb::handle value) {
  if (nb::isinstance<nb::bool_>(value)) return nb::cast<bool>(value);
  if (std::int64_t number = 0; nb::try_cast(value, number, false)) return number;
  if (double number = 0; nb::try_cast(value, number, false)) return number;
  if (std::string text; nb::try_cast(value, text)) return text;
  std::vector<std::string> texts;
  if (!nb::try_cast(value, texts)) refuse(name, value, "a flag, a number, a text or a list of texts");
  return texts;
}

}  // namespace

JobOptions options_of(const nb::dict& given) {
  JobOptions options;
  std::vector<std::string> known{"map_window"};
  for (const JobOption& option : job_option_table())
    if (!option.set_by_others) known.emplace_back(option.name);
  for (const auto& [key, value] : given) {
    const auto name = nb::cast<std::string>(key);
    if (std::ranges::find(known, name) == known.end()) {
      const std::string meant = did_you_mean(name, known);
      throw FormatError(fmt::format("there is no option '{}'{}", name,
                                    meant.empty() ? fmt::format("; there are {}", fmt::join(known, ", ")) : meant));
    }
    if (std::string window; name == "map_window") {
      if (!nb::try_cast(value, window) || !set_map_window(options, window))
        refuse("map_window", value, map_window_values);
    } else {
      const JobOption& option = *std::ranges::find(job_option_table(), name, &JobOption::name);
      std::visit(OptionSetter(options, option.name, value), option.member);
    }
  }
  return options;
}

std::string job_text(const nb::dict& input, const JobOptions& options) {
  Settings settings;
  for (const auto& [key, value] : input) {
    const auto name = nb::cast<std::string>(key);
    settings[name] = setting_of(name, value);
  }
  for (const JobOption& option : job_option_table()) {
    if (option.set_by_others || (option.name == "only" && options.only.empty()) ||
        (option.name == "everything" && !options.everything))
      continue;
    settings[option.key()] = std::visit(OptionSetting{options}, option.member);
  }
  settings["map-window"] = map_window(options);
  return toml_text(settings);
}

}  // namespace headwave::python
