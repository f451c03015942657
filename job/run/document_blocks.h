#pragma once

#include "../../core/numbers/matrix.h"

namespace headwave {

/// In what order a job's documents are added up: those of a block one after another, then the blocks. Nothing but how many
/// documents there are decides where blocks end, so whoever goes through them, processes, machines or threads, comes to
/// the same digits. Blocks have at least 4 documents, so that handing over what they came to costs little beside finding
/// it, and there are at most 64, so that all of it fits on a disk.
class DocumentBlocks {
 public:
  /// @param documents  at least 1
  explicit DocumentBlocks(Index documents);

  [[nodiscard]] Index count() const { return count_; }
  /// The first document of a block; of the one behind the last, how many documents there are.
  [[nodiscard]] Index first(Index block) const;
  [[nodiscard]] Index of(Index document) const { return document / size_; }
  /// Whether a block ends behind that document.
  [[nodiscard]] bool ends_with(Index document) const;

 private:
  Index documents_, size_, count_;
};

/// One of several parts that a job's blocks are divided into, as equal as they can be: blocks `first` to `end - 1`.
struct BlockRange {
  Index first = 0, end = 0;
};

/// @param part   from 1 to `parts`
/// @throws ShapeError if there are fewer blocks than parts
BlockRange part_of(const DocumentBlocks& blocks, Index part, Index parts);

}  // namespace headwave
