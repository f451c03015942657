#pragma once

#include <vector>

#include "../../analysis/pass/site.h"
#include "../../core/model/model.h"
#include "../../core/model/source.h"

namespace headwave {

/// The kinds of attention of a job, with the layers that a document passes through or in which it was stored.
/// @param first  document of the source
std::vector<Site> sites_of(const Model& model, const Source& source, const Document& first);

}  // namespace headwave
