#pragma once

#include "../../analysis/attention/head_cluster.h"
#include "../../analysis/pass/job_options.h"
#include "../../analysis/why/position_atlas.h"

/// Every analysis, with little chance and few clusters: what is the same to the bit is so of these.
inline headwave::JobOptions quick_options() {
  headwave::JobOptions options;
  options.everything = true;
  options.draws = options[headwave::atlas_draws_option] = 3;
  options.resamples = 10;
  options[headwave::sweep_option] = options[headwave::clusters_option] = 3;
  return options;
}
