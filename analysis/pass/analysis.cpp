#include "analysis.h"

namespace headwave {

std::unique_ptr<Finding> Analysis::read(ByteReader& /*bytes*/) const {
  throw FormatError("bytes of a finding came for an analysis that finds nothing in single documents");
}

std::unique_ptr<BlockSum> Analysis::read_block(ByteReader& /*bytes*/) const {
  throw FormatError("bytes of a block came for an analysis that finds nothing in documents");
}

}  // namespace headwave
