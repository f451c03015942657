#include "analysis_kind.h"

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
    case Need::values:
      return "values";
    default:
      return "documents of one length";
  }
}

}  // namespace headwave
