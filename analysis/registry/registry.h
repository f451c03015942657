#pragma once

#include <string>
#include <vector>

#include "../pass/analysis.h"

namespace headwave {

/// All analyses that a job can run, in the order of the paper's argument. Each comes after the analyses that
/// it reads. A new analysis is one line in registry.cpp.
const std::vector<const AnalysisKind*>& analysis_kinds();

/// The analyses of a job, in order: those in `only`, those that they read, and those that always run. If
/// `only` is empty: all analyses with `everything`, otherwise the default ones.
/// @throws ShapeError if a name is unknown, with the nearest one
std::vector<const AnalysisKind*> chosen_analyses(const JobOptions& options);

}  // namespace headwave
