#pragma once

#include "../../core/numbers/matrix.h"

namespace headwave {

/// The order in which a job's documents are added up: first within each block of consecutive documents, then
/// block by block. The boundaries of blocks depend only on the number of documents, so any number of
/// processes, machines and threads gives the same digits. A block has at least 4 documents (the last may have
/// fewer), so that passing on its sums takes little time compared with computing them. There are at most 64
/// blocks, so that the sums of all blocks fit on a disk.
class DocumentBlocks {
 public:
  /// @param documents  at least 1
  explicit DocumentBlocks(Index documents);

  [[nodiscard]] Index count() const { return count_; }
  /// The first document of a block. first(count()) is the number of documents.
  [[nodiscard]] Index first(Index block) const;
  [[nodiscard]] Index of(Index document) const { return document / size_; }
  /// Whether this document is the last one of its block.
  [[nodiscard]] bool ends_with(Index document) const;

 private:
  Index documents_, size_, count_;
};

/// The blocks `first` to `end - 1`.
struct BlockRange {
  Index first = 0, end = 0;
};

/// The blocks of one part of a job that is divided into `parts` nearly equal parts.
/// @param part   1 to `parts`
/// @throws ShapeError if there are fewer blocks than parts
BlockRange part_of(const DocumentBlocks& blocks, Index part, Index parts);

}  // namespace headwave
