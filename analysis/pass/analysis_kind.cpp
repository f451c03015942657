#include "analysis_kind.h"

#include <algorithm>

namespace headwave {

std::string_view text_of(Step step) {
  switch (step) {
    case Step::landing:
      return "where attention lands";
    case Step::positions:
      return "the wave in positions and states";
    case Step::waves:
      return "the wave in queries and keys";
    default:
      return "predicted and measured offsets";
  }
}

std::string_view text_of(Need need) {
  switch (need) {
    case Need::weights:
      return "query and key weights";
    case Need::positions:
      return "position table";
    case Need::states:
      return "hidden states";
    case Need::attention:
      return "attention";
    case Need::projections:
      return "queries and keys";
    case Need::values:
      return "values";
    case Need::rotary:
      return "rotary positions";
    default:
      return "documents of one length";
  }
}

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
