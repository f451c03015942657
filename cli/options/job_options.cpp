#include "job_options.h"

#include "values.h"

namespace headwave::cli {

namespace {

std::vector<std::string> analysis_names() {
  std::vector<std::string> names;
  for (const JobAnalysis& analysis : job_analyses()) names.push_back(analysis.name);
  return names;
}

}  // namespace

void add_job_options(CLI::App& command, JobOptions& options, const std::string& no_only) {
  const char* group = "Analysis";
  command
      .add_option("--window", options.window, "heads are clustered by their traces at offsets up to this, in tokens")
      ->check(whole_number(1, 4096))
      ->capture_default_str()
      ->group(group);
  command.add_option("--reach", options.reach, "offsets are searched up to this, in tokens")
      ->check(whole_number(1, 4096))
      ->capture_default_str()
      ->group(group);
  command.add_option("--level", options.level, "chance that a head without a preference is given an offset")
      ->check(real_number(1e-12, 0.5))
      ->capture_default_str()
      ->group(group);
  if (no_only.empty())
    command
        .add_option("--only", options.only,
                    "do these analyses alone, names separated by commas; offset traces and measured offsets always")
        ->delimiter(',')
        ->check(one_of(analysis_names()))
        ->type_name("NAME,...")
        ->group(group);
  else
    refused_option(command, "--only", no_only);
  command.add_option("--draws", options.draws, "random rotations behind the null of the delays, 0: no null")
      ->check(none_or_whole_number(3, 10000))
      ->capture_default_str()
      ->group(group);
  command.add_option("--resamples", options.resamples, "resamples of the documents behind intervals, 0: no intervals")
      ->check(whole_number(0, 100000))
      ->capture_default_str()
      ->group(group);
  command
      .add_option("--false-share", options.false_share,
                  "share of the heads called positional, by weights, phases or scores, that may be false")
      ->check(real_number(1e-12, 1.0))
      ->capture_default_str()
      ->group(group);
  command.add_option("--clusters", options.clusters, "number of clusters, k of k-means")
      ->check(whole_number(1, 100))
      ->capture_default_str()
      ->group(group);
  command.add_option("--sweep", options.sweep_last, "quality of the clusters is given for 2 up to this many")
      ->check(whole_number(2, 100))
      ->capture_default_str()
      ->group(group);
  command
      .add_option("--score-window", options.score_window,
                  "heads are clustered by their scores at offsets up to this, in tokens")
      ->check(whole_number(1, 4096))
      ->capture_default_str()
      ->group(group);
  command.add_option("--score-clusters", options.score_clusters, "number of clusters of scores")
      ->check(whole_number(1, 100))
      ->capture_default_str()
      ->group(group);
  command
      .add_option("--atlas-draws", options.atlas_draws,
                  "random rotations behind the null of what positions predict, 0: no null")
      ->check(whole_number(0, 100000))
      ->capture_default_str()
      ->group(group);
  command.add_option("--seed", options.seed, "seed of everything random")
      ->check(not_negative())
      ->capture_default_str()
      ->group(group);
  command.add_option("--threads", options.threads, "threads, 0: one per core; changes no digit of the result")
      ->check(whole_number(0, 1024))
      ->capture_default_str()
      ->group(group);
}

}  // namespace headwave::cli
