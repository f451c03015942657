#pragma once

#include <string>
#include <vector>

#include "../pass/analysis.h"

namespace headwave {

/// Every analysis that a job can run, in order: the order of the paper's argument, and every analysis after
/// the analyses that it reads. A new analysis is one line in registry.cpp.
const std::vector<const AnalysisKind*>& analysis_kinds();

/// The analyses of a job, in order: those of `only`, the analyses that they read and those that always run. If `only` is
/// empty, every analysis if `everything` is set, else the default ones.
/// @throws ShapeError if there is no analysis of a name, with the nearest name
std::vector<const AnalysisKind*> chosen_analyses(const JobOptions& options);

}  // namespace headwave
