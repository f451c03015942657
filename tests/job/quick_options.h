#pragma once

#include "../../analysis/pass/job_options.h"

/// Every analysis, with little chance and few clusters: what is the same to the bit is so of these.
inline headwave::JobOptions quick_options() {
  headwave::JobOptions options;
  options.draws = options.atlas_draws = 3;
  options.resamples = 10;
  options.sweep = options.clusters = 3;
  return options;
}
