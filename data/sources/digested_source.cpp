#include "digested_source.h"

namespace headwave {

void require_unchanged(const Source& source) {
  if (const auto* const digested = dynamic_cast<const DigestedSource*>(&source)) digested->require_unchanged();
}

}  // namespace headwave
