#pragma once

#include <vector>

#include "document_pass.h"
#include "stage_report.h"

namespace headwave {

/// What each document is expected to cost the stage "attention", the model pass with everything that looks on.
/// @returns (documents)  seconds of one core, of which only the ratios are to be trusted
std::vector<double> document_costs(const Model& model, const DocumentPass& pass, const JobOptions& options);

/// The stages of a job, in the order in which DocumentPass::run() and site_fields() go through them, with what each is
/// expected to cost.
///
/// Costs are counts of the operations that grow fastest, times rates that were measured once, on one machine: how
/// stages compare with each other, and how each grows with documents and lengths, holds elsewhere too; the seconds do
/// not.
/// @param threads  at least 1
std::vector<StageCost> job_stages(const Model& model, const DocumentPass& pass, const JobOptions& options, int threads);

}  // namespace headwave
