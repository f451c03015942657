#pragma once

#include <string>
#include <vector>

#include "../pass/analysis.h"

namespace headwave {

/// All analyses that a job can run: where heads look, then positions, waves, and why. An analysis comes after
/// the analyses that it reads. To add an analysis, add one line to registry.cpp.
const std::vector<const AnalysisKind*>& analysis_kinds();

/// The analyses that a job runs, in the order of analysis_kinds(). These are the analyses named in `only`,
/// the analyses that they read, and the analyses that always run. If `only` is empty, all analyses run if
/// `everything` is set, and otherwise the default analyses run.
/// @throws ShapeError if a name is unknown; the message suggests a similar name
std::vector<const AnalysisKind*> chosen_analyses(const JobOptions& options);

}  // namespace headwave
