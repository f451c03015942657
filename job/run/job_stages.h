#pragma once

#include <vector>

#include "document_pass.h"
#include "stage_report.h"

namespace headwave {

/// What each document is expected to cost the stage "attention", the model pass with everything that looks on.
/// @returns (documents)  seconds of one core, of which only the ratios are to be trusted
std::vector<double> document_costs(const Model& model, const DocumentPass& pass, const JobOptions& options);

/// The stages of a job, in the order in which DocumentPass goes through them, with what each is expected to cost: what
/// the analyses say of themselves, and the model's own pass, counts times rates as in AnalysisCost.
/// @param threads  at least 1
std::vector<StageCost> job_stages(const Model& model, const DocumentPass& pass, const JobOptions& options, int threads);

}  // namespace headwave
