#pragma once

#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "../../core/fields/field.h"
#include "../pass/job_options.h"

namespace headwave {

/// An option of a job: its name, help text and range. Its default is the default of the member.
struct JobOption {
  std::string_view name;
  std::string_view help;
  std::variant<Index JobOptions::*, double JobOptions::*, bool JobOptions::*, std::uint64_t JobOptions::*,
               int JobOptions::*, std::vector<std::string> JobOptions::*, const OwnOption*>
      member;
  double least = 0, most = 0;  ///< range of a number; if both are 0, any number >= 0 is allowed
  bool or_zero = false;        ///< see OwnOption
  bool set_by_others = false;  ///< the command line sets it from another option

  /// Name in job files and on the command line, for example "atlas-draws".
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

/// All options of a job: first the options that several analyses read, then the options of single analyses.
/// The command line, job files, the provenance of results and the documentation are made from this table.
const std::vector<JobOption>& job_option_table();

/// Writes the options of a job to its provenance. Empty lists and switches that are off are omitted.
/// @param threads  number of threads that were used
void add_options(Attributes& provenance, const JobOptions& options, int threads);

/// Checks that every option is in its range.
/// @throws ShapeError with the name, value and range of an option that is out of range
void require_in_range(const JobOptions& options);

}  // namespace headwave
