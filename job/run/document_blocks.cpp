#include "document_blocks.h"

#include <algorithm>

#include <fmt/format.h>

#include "../../core/errors/error.h"

namespace headwave {

namespace {

constexpr Index least_documents = 4, most_blocks = 64;

}  // namespace

DocumentBlocks::DocumentBlocks(Index documents)
    : documents_(documents),
      size_(std::max(least_documents, (documents + most_blocks - 1) / most_blocks)),
      count_((documents + size_ - 1) / size_) {}

Index DocumentBlocks::first(Index block) const {
  return std::min(documents_, block * size_);
}

bool DocumentBlocks::ends_with(Index document) const {
  return document + 1 == documents_ || of(document + 1) != of(document);
}

BlockRange part_of(const DocumentBlocks& blocks, Index part, Index parts) {
  if (parts > blocks.count())
    throw ShapeError(fmt::format(
        "the job's {} documents form {} blocks, which cannot be divided into {} parts; expected at most {} parts",
        blocks.first(blocks.count()), blocks.count(), parts, blocks.count()));
  return {blocks.count() * (part - 1) / parts, blocks.count() * part / parts};
}

}  // namespace headwave
