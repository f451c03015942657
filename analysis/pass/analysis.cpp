#include "analysis.h"

namespace headwave {

std::unique_ptr<BlockSum> Analysis::read_block(ByteReader& /*bytes*/) const {
  throw FormatError("bytes of a block came for an analysis that finds nothing in documents");
}

}  // namespace headwave
