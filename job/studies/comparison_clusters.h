#pragma once

#include <string>
#include <vector>

#include "comparison.h"

namespace headwave {

/// Names of the Fields that add_clusters() looks at.
const std::vector<std::string>& cluster_fields();

/// Which cluster every head belongs to, as words and as a count, for each kind of clusters that both results have.
/// @param compared  its grid is read, words and clusters are written
/// @throws ShapeError if shares have other axes than described
void add_clusters(Comparison& compared, const Result& first, const Result& second);

}  // namespace headwave
