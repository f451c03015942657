#pragma once

#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "../../core/fields/field.h"
#include "../pass/job_options.h"

namespace headwave {

/// One option: its name, type, range, and what it does. The member holds its default.
struct JobOption {
  std::string_view name;
  std::string_view help;
  std::variant<Index JobOptions::*, double JobOptions::*, bool JobOptions::*, std::uint64_t JobOptions::*,
               int JobOptions::*, std::vector<std::string> JobOptions::*, const OwnOption*>
      member;
  double least = 0, most = 0;  ///< the range of a number; both 0: any number that is not negative
  bool or_zero = false;        ///< as in OwnOption
  bool set_by_others = false;  ///< has no option of its own on the command line

  /// "atlas-draws": its name in job files and on the command line
  [[nodiscard]] std::string key() const;
};

/// The value that JobOption::member refers to.
/// @param options  of a job, const or not
template <class Options, class Value>
auto& value_of(Options& options, Value JobOptions::*member) {
  return options.*member;
}
template <class Options>
decltype(auto) value_of(Options& options, const OwnOption* own) {
  return options[*own];
}

/// Every option of a job: those of several analyses, then those of each analysis. The command line, job
/// files, the provenance of results and the documentation all come from this table.
const std::vector<JobOption>& job_option_table();

/// The options as they were given, for the provenance.
/// @param threads  as many as were used
void add_options(Attributes& provenance, const JobOptions& options, int threads);

/// @throws ShapeError naming the option that is out of its range, and the range
void require_in_range(const JobOptions& options);

}  // namespace headwave
