#include "job_option_table.h"

#include <algorithm>
#include <type_traits>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "registry.h"

namespace headwave {

std::string JobOption::key() const {
  std::string text(name);
  std::replace(text.begin(), text.end(), '_', '-');
  return text;
}

const std::vector<JobOption>& job_option_table() {
  using J = JobOptions;
  static const std::vector<JobOption> shared{
      {.name = "only",
       .help = "run only these analyses and those they read, separated by commas (`headwave analyses` lists them)",
       .member = &J::only},
      {.name = "everything",
       .help = "run every analysis; the default ones answer where heads look, how strongly and why",
       .member = &J::everything},
      {.name = "heads",
       .help = "heads for which every pair of sources is given, and earlier attention head by head; by default the "
               "strongest few heads, pairs only",
       .member = &J::heads,
       .set_by_others = true},
      {.name = "reach",
       .help = "largest offset at which a head's preference is searched, in tokens",
       .member = &J::reach,
       .least = 1,
       .most = 4096},
      {.name = "level",
       .help = "significance level: chance that a head which prefers no offset is still reported with one",
       .member = &J::level,
       .least = 1e-12,
       .most = 0.5},
      {.name = "draws",
       .help = "number of random rotations, in place of a head's own, that give the null distribution of delays; 0: no "
               "null",
       .member = &J::draws,
       .least = 3,
       .most = 10000,
       .or_zero = true},
      {.name = "resamples",
       .help = "number of bootstrap resamples of the documents for intervals; 0: no intervals",
       .member = &J::resamples,
       .least = 0,
       .most = 100000},
      {.name = "fdr",
       .help = "false discovery rate: accepted share of errors among predicted offsets, positional verdicts and "
               "written words",
       .member = &J::fdr,
       .least = 1e-12,
       .most = 1},
      {.name = "seed", .help = "seed of all random numbers", .member = &J::seed},
      {.name = "threads",
       .help = "number of threads; 0: one per core; results are identical",
       .member = &J::threads,
       .least = 0,
       .most = 1024},
      {.name = "parallel_documents",
       .help = "number of documents computed together when weights are read layer by layer; 0: as many as memory "
               "holds; results are identical",
       .member = &J::parallel_documents,
       .least = 0,
       .most = 1e6},
  };
  static const std::vector<JobOption> table = [] {
    std::vector<JobOption> all = shared;
    for (const AnalysisKind* kind : analysis_kinds())
      for (const OwnOption* own : kind->options)
        if (std::ranges::find(all, own->name, &JobOption::name) == all.end())
          all.push_back({own->name, own->help, own, static_cast<double>(own->least), static_cast<double>(own->most),
                         own->or_zero});
    return all;
  }();
  return table;
}

void add_options(Attributes& provenance, const JobOptions& options, int threads) {
  for (const JobOption& option : job_option_table())
    std::visit(
        [&](auto member) {
          const auto& value = value_of(options, member);
          using Value = std::decay_t<decltype(value)>;
          constexpr bool is_list = std::is_same_v<Value, std::vector<std::string>>;
          if constexpr (is_list || std::is_same_v<Value, bool>)
            if (value == Value()) return;
          Attribute& attribute = provenance[std::string(option.name)];
          if constexpr (std::is_same_v<Value, double>)
            attribute = value;
          else if constexpr (std::is_arithmetic_v<Value>)
            attribute = static_cast<std::int64_t>(value);
          else
            attribute = fmt::format("{}", fmt::join(value, ","));
        },
        option.member);
  provenance["threads"] = static_cast<std::int64_t>(threads);
}

void require_in_range(const JobOptions& options) {
  for (const JobOption& option : job_option_table())
    std::visit(
        [&](auto member) {
          if constexpr (std::is_arithmetic_v<std::decay_t<decltype(value_of(options, member))>>) {
            const auto value = static_cast<double>(value_of(options, member));
            if (option.least == 0 && option.most == 0) return;
            if ((value >= option.least && value <= option.most) || (option.or_zero && value == 0)) return;
            throw ShapeError(fmt::format("the option {} is {}; expected {}{} to {}", option.name, value,
                                         option.or_zero ? "0, or " : "", option.least, option.most));
          }
        },
        option.member);
}

}  // namespace headwave
