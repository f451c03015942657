#include "analysis.h"

#include <utility>

namespace headwave {

void append(std::vector<Field>& fields, std::vector<Field>&& more) {
  for (Field& field : more) fields.push_back(std::move(field));
}

std::unique_ptr<Finding> Analysis::read(ByteReader& /*bytes*/) const {
  throw FormatError("bytes of a finding came for an analysis that finds nothing in single documents");
}

}  // namespace headwave
