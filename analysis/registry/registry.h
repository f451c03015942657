#pragma once

#include <string>
#include <vector>

#include "../pass/analysis_kind.h"

namespace headwave {

/// Every analysis that a job can do, in the order in which it does them: that of the paper's argument, those that are
/// read before those that read them. The only place that knows them all; a new one is one line in registry.cpp.
const std::vector<const AnalysisKind*>& analysis_kinds();

/// Those that people ask for by name.
std::vector<const AnalysisKind*> listed_analyses();

/// What a job does that was asked for `only` these, in order: with them what is always done and what they read; all
/// where nothing was asked for.
/// @throws ShapeError if there is no analysis of a name, with the nearest one, or if one would have nothing to read
std::vector<const AnalysisKind*> chosen_analyses(const std::vector<std::string>& only);

}  // namespace headwave
