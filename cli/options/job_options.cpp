#include "job_options.h"

#include <algorithm>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "../../analysis/registry/job_option_table.h"
#include "../../analysis/registry/registry.h"
#include "values.h"

namespace headwave::cli {

namespace {

std::vector<std::string> analysis_names() {
  std::vector<std::string> names;
  for (const AnalysisKind* kind : analysis_kinds()) names.emplace_back(kind->name);
  return names;
}

CLI::Validator whole_number_of(const JobOption& option) {
  const auto least = static_cast<std::int64_t>(option.least), most = static_cast<std::int64_t>(option.most);
  if (least == 0 && most == 0) return not_negative();
  return option.or_zero ? none_or_whole_number(least, most) : whole_number(least, most);
}

}  // namespace

void add_job_options(CLI::App& command, JobOptions& options) {
  for (const JobOption& option : job_option_table()) {
    if (option.set_by_others) continue;
    const std::string name = "--" + option.key(), help(option.help);
    std::visit(
        [&](auto member) {
          auto& value = value_of(options, member);
          using Value = std::decay_t<decltype(value)>;
          if constexpr (std::is_same_v<Value, bool>) {
            command.add_flag(name, value, help)->group("Analysis");
            return;
          }
          CLI::Option* added = command.add_option(name, value, help)->group("Analysis");
          if constexpr (std::is_same_v<Value, std::vector<std::string>>)
            added->delimiter(',')->check(one_of(analysis_names()).description(""))->type_name("NAME,...");
          else if constexpr (std::is_same_v<Value, double>)
            added->check(real_number(option.least, option.most))->capture_default_str();
          else
            added->check(whole_number_of(option))->capture_default_str();
        },
        option.member);
  }
  command.get_option("--only")->excludes("--everything");
}

void require_read_options(const CLI::App& command, const JobOptions& options) {
  const std::vector<const AnalysisKind*> chosen = chosen_analyses(options);
  for (const AnalysisKind* kind : analysis_kinds()) {
    if (std::ranges::count(chosen, kind) > 0) continue;
    for (const OwnOption* own : kind->options) {
      const auto reads = [&](const AnalysisKind* other) { return std::ranges::count(other->options, own) > 0; };
      std::string name = "--" + std::string(own->name);
      std::ranges::replace(name, '_', '-');
      if (command.count(name) == 0 || options[*own] == own->usual || std::ranges::any_of(chosen, reads)) continue;
      throw CLI::ValidationError(
          name, fmt::format("is read by {}, which is not among the analyses of this run; {}", kind->name,
                            options.only.empty() ? "give --everything, or choose it with --only"
                                                 : fmt::format("add {} to --only", kind->name)));
    }
  }
}

}  // namespace headwave::cli
