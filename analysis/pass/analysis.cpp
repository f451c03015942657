#include "analysis.h"

#include <fmt/format.h>

#include "../../core/errors/error.h"

namespace headwave {

void Finished::throw_missing(const char* type) {
  throw ShapeError(fmt::format("a result ({}) is read that no analysis before has kept", type));
}

std::unique_ptr<DocumentSum> Analysis::no_documents() const {
  throw FormatError("bytes of a block came for an analysis that finds nothing in documents");
}

void Analysis::add(std::unique_ptr<DocumentSum>& block, DocumentSum& document) const {
  if (!block) block = no_documents();
  block->add(std::move(document));
}

void Analysis::write_sum(ByteWriter& bytes) const {
  bytes.write<std::uint8_t>(sum_ ? 1 : 0);
  if (sum_) sum_->write(bytes);
}

void Analysis::read_sum(ByteReader& bytes) {
  sum_ = bytes.read<std::uint8_t>() != 0 ? no_documents() : nullptr;
  if (sum_) sum_->read(bytes);
}

}  // namespace headwave
