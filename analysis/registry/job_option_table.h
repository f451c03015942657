#pragma once

#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "../../core/fields/field.h"
#include "../pass/job_options.h"

namespace headwave {

/// An option of a job: its name, help, default (that of the member) and range.
struct JobOption {
  std::string_view name;
  std::string_view help;
  std::variant<Index JobOptions::*, double JobOptions::*, bool JobOptions::*, std::uint64_t JobOptions::*,
               int JobOptions::*, std::vector<std::string> JobOptions::*, const OwnOption*>
      member;
  double least = 0, most = 0;  ///< range of a number; both 0: any that is not negative
  bool or_zero = false;        ///< as in OwnOption
  bool set_by_others = false;  ///< has no option of its own on the command line

  /// "atlas-draws": its name in job files and on the command line
  [[nodiscard]] std::string key() const;
};

/// The value of the option that a JobOption::member points to.
template <class Options, class Value>
auto& value_of(Options& options, Value JobOptions::*member) {
  return options.*member;
}
template <class Options>
decltype(auto) value_of(Options& options, const OwnOption* own) {
  return options[*own];
}

/// All options of a job: those that several analyses read, then those of single analyses. The command line,
/// job files, the provenance of results and the documentation come from this table.
const std::vector<JobOption>& job_option_table();

/// Writes the options of a job to its provenance, without lists and switches that are not set.
/// @param threads  number of threads that were used
void add_options(Attributes& provenance, const JobOptions& options, int threads);

/// @throws ShapeError with the option that is out of range, and the range
void require_in_range(const JobOptions& options);

}  // namespace headwave
