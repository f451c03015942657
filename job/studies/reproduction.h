#pragma once

#include <functional>
#include <string>
#include <vector>

#include "../inputs/job_input.h"
#include "../run/job.h"
#include "quantity_table.h"

namespace headwave {

/// The paper's whole list on one model.
struct Reproduction {
  std::string model;  ///< the one that published numbers are about; empty: another one
  std::vector<ReproducedQuantity> quantities;
  Result result;  ///< of the run without interventions, with Fields reproduction/...
};

/// Runs a job as it is, with positions only, words only and shuffled words, and measures what the paper reports.
///
/// Quantities about named heads are those of the published model; on another model the clearest head, the one with the
/// largest weight at an offset of its own, stands in their place where that makes sense.
/// @param input  opens model and documents anew, once for each run
/// @throws Error as `input` and run_job()
Reproduction reproduction(const std::function<JobInput()>& input, const JobOptions& options = {},
                          const ProgressCallback& progress = {});

/// Fields reproduction/measured, low, high, published and source (quantity).
std::vector<Field> describe(const Reproduction& reproduction);

}  // namespace headwave
