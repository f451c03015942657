#pragma once

#include <vector>

#include "document_pass.h"
#include "stage_report.h"

namespace headwave {

/// Sizes of a site, for what its analyses say of themselves.
/// @param lengths  tokens of each document
AnalysisSizes site_sizes(const Model& model, const Site& site, const std::vector<Index>& lengths);

/// Those of the analyses that have something to do at a site, and say what it takes.
std::vector<const AnalysisKind*> costly_kinds(const std::vector<const AnalysisKind*>& kinds, const Site& site);

/// What each document is expected to cost the stage "attention", the model pass with everything that looks on.
/// @returns (documents)  seconds of one core, of which only the ratios are to be trusted
std::vector<double> document_costs(const Model& model, const DocumentPass& pass, const JobOptions& options);

/// The stages of a job, in the order in which DocumentPass goes through them, with what each is expected to cost: what
/// the analyses say of themselves, and the model's own pass, counts times rates as in AnalysisCost.
/// @param threads  at least 1
std::vector<StageCost> job_stages(const Model& model, const DocumentPass& pass, const JobOptions& options, int threads);

}  // namespace headwave
