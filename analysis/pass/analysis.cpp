#include "analysis.h"

namespace headwave {

std::unique_ptr<Finding> Analysis::read(ByteReader& /*bytes*/) const {
  throw FormatError("bytes of a finding came for an analysis that finds nothing in single documents");
}

}  // namespace headwave
