#include "analysis.h"

#include <fmt/format.h>

#include "../../core/errors/error.h"

namespace headwave {

void Finished::throw_missing(const char* type) {
  throw ShapeError(fmt::format(
      "an analysis reads a result of type {}, but no earlier analysis kept one; list its analysis in `reads`", type));
}

std::unique_ptr<DocumentSum> Analysis::no_documents() const {
  throw FormatError(
      "stored sums of a run hold the sum of an analysis that keeps none: another version of headwave wrote them; run "
      "again");
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

bool applies(const AnalysisKind& kind, const Site& site) {
  if (kind.one_sequence && site.kind == AttentionKind::cross) return false;
  if (!site.only_sums.empty() && !kind.of_sums) return false;
  if (kind.projections && !site.no_projections.empty()) return false;
  return !kind.chain || site.no_chain.empty();
}

}  // namespace headwave
