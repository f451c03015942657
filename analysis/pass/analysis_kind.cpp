#include "analysis_kind.h"

#include <algorithm>

namespace headwave {

bool applies(const AnalysisKind& kind, const Site& site) {
  if (kind.one_sequence && site.kind == AttentionKind::cross) return false;
  if (!site.only_sums.empty() && !kind.of_sums) return false;
  const auto needs = [&](Need need) {
    return std::find(kind.needs.begin(), kind.needs.end(), need) != kind.needs.end();
  };
  if (needs(Need::projections) && !site.no_projections.empty()) return false;
  return !kind.chain || site.no_chain.empty();
}

}  // namespace headwave
