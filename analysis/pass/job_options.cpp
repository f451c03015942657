#include "job_options.h"

#include <algorithm>
#include <cmath>
#include <type_traits>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace headwave {

namespace {

constexpr double most_offset = 4096;

}  // namespace

std::string JobOption::flag() const {
  std::string text = "--" + std::string(name);
  std::replace(text.begin(), text.end(), '_', '-');
  return text;
}

const std::vector<JobOption>& job_option_table() {
  using J = JobOptions;
  static const std::vector<JobOption> table{
      {.name = "only",
       .help =
           "do these analyses alone, and what they read; names separated by commas (`headwave analyses` lists them); "
           "offset traces and measured offsets always",
       .member = &J::only},
      {.name = "heads",
       .help = "heads of whose keys and queries every pair of sources is given, and earlier attention head by head; "
               "without it the pairs of the strongest few",
       .member = &J::heads,
       .set_by_others = true},
      {.name = "window",
       .help = "heads are clustered by their traces at offsets up to this, in tokens; the published choice",
       .member = &J::window,
       .least = 1,
       .most = most_offset},
      {.name = "reach",
       .help = "offsets are searched up to this, in tokens",
       .member = &J::reach,
       .least = 1,
       .most = most_offset},
      {.name = "level",
       .help = "chance that a head without a preference is given an offset",
       .member = &J::level,
       .least = 1e-12,
       .most = 0.5},
      {.name = "draws",
       .help = "random rotations behind the null of the delays, 0: no null",
       .member = &J::draws,
       .least = 3,
       .most = 10000,
       .or_none = true},
      {.name = "resamples",
       .help = "resamples of the documents behind intervals, 0: no intervals",
       .member = &J::resamples,
       .least = 0,
       .most = 100000},
      {.name = "false_share",
       .help =
           "share of the heads given an offset by weights, phases or scores, or called positional, that may be false",
       .member = &J::false_share,
       .least = 1e-12,
       .most = 1},
      {.name = "evidence",
       .help = "strongest heads whose keys are moved, to see whether attention follows, 0: none",
       .member = &J::evidence,
       .least = 0,
       .most = 1000},
      {.name = "clusters", .help = "number of clusters, k of k-means", .member = &J::clusters, .least = 1, .most = 100},
      {.name = "sweep",
       .help = "quality of the clusters is given for 2 up to this many",
       .member = &J::sweep,
       .least = 2,
       .most = 100},
      {.name = "score_window",
       .help = "heads are clustered by their scores at offsets up to this, in tokens; the published choice",
       .member = &J::score_window,
       .least = 1,
       .most = most_offset},
      {.name = "score_clusters",
       .help = "number of clusters of scores; the published choice",
       .member = &J::score_clusters,
       .least = 1,
       .most = 100},
      {.name = "atlas_draws",
       .help = "random rotations behind the null of what positions predict, 0: no null",
       .member = &J::atlas_draws,
       .least = 3,
       .most = 100000,
       .or_none = true},
      {.name = "rows",
       .help = "analyses of the position table read its first N rows; 0: those that look trained",
       .member = &J::rows,
       .least = 2,
       .most = 1e9,
       .or_none = true},
      {.name = "map_document",
       .help = "the document that attention maps are of, counted from 0",
       .member = &J::map_document,
       .least = 0,
       .most = 1e9},
      {.name = "map_first",
       .help = "its first token that attention maps keep weight by weight, counted from 0; -1: where heads attend as "
               "in all of it",
       .member = &J::map_first,
       .least = -1,
       .most = 1e9,
       .set_by_others = true},
      {.name = "map_tokens",
       .help = "how many tokens from there they keep so",
       .member = &J::map_tokens,
       .least = 1,
       .most = most_offset,
       .set_by_others = true},
      {.name = "seed", .help = "seed of everything random", .member = &J::seed},
      {.name = "threads",
       .help = "threads, 0: one per core; changes no digit of the result",
       .member = &J::threads,
       .least = 0,
       .most = 1024},
      {.name = "together",
       .help =
           "documents side by side where the model's layers are read one by one, 0: as many as memory holds, at most 4 "
           "for each thread; changes no digit of the result",
       .member = &J::together,
       .least = 0,
       .most = 1e6},
  };
  return table;
}

void add_options(Attributes& provenance, const JobOptions& options, int threads) {
  for (const JobOption& option : job_option_table())
    std::visit(
        [&](auto member) {
          const auto& value = options.*member;
          using Value = std::decay_t<decltype(value)>;
          if constexpr (std::is_same_v<Value, std::vector<std::string>>) {
            if (value.empty()) return;
          }
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
          if constexpr (std::is_arithmetic_v<std::decay_t<decltype(options.*member)>>) {
            const auto value = static_cast<double>(options.*member);
            if (option.least == 0 && option.most == 0) return;
            if ((value >= option.least && value <= option.most) || (option.or_none && value == 0)) return;
            throw ShapeError(fmt::format("run_job: {} is {}; expected {}{} to {}", option.name, value,
                                         option.or_none ? "0, or " : "", option.least, option.most));
          }
        },
        option.member);
}

}  // namespace headwave
