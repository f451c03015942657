#include "options.h"

#include <algorithm>

#include <fmt/format.h>

#include "../analysis/registry/job_option_table.h"
#include "../core/errors/error.h"

namespace headwave::python {

namespace {

[[noreturn]] void refuse(std::string_view name, nb::handle value, std::string_view expected) {
  std::string shown = nb::cast<std::string>(nb::repr(value));
  if (shown.size() > 60 || shown.find('\n') != std::string::npos)
    shown = "of type " + nb::cast<std::string>(nb::str(nb::type_name(value.type())));
  throw FormatError(fmt::format("the option {} is {}, expected {}", name, shown, expected));
}

/// Sets a job option to a Python value.
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
    const bool convert = std::is_same_v<Value, double>;  // 5 may stand for 5.0, but "5" not for 5
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

}  // namespace

JobOptions options_of(const nb::dict& given) {
  JobOptions options;
  for (const auto& [key, value] : given) {
    const auto name = nb::cast<std::string>(key);
    const auto option = std::ranges::find(job_option_table(), name, &JobOption::name);
    if (option == job_option_table().end() || option->set_by_others)
      throw FormatError(fmt::format("there is no option '{}'", name));
    std::visit(OptionSetter(options, option->name, value), option->member);
  }
  return options;
}

nb::dict job_options() {
  JobOptions usual;
  nb::dict options;
  for (const JobOption& option : job_option_table())
    if (!option.set_by_others)
      options[std::string(option.name).c_str()] =
          std::visit([&](auto member) { return nb::cast(value_of(usual, member)); }, option.member);
  return options;
}

}  // namespace headwave::python
