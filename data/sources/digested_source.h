#pragma once

#include "../../core/model/source.h"

namespace headwave {

/// A source that reads its documents from files piece by piece, after their digests were taken.
class DigestedSource : public Source {
 public:
  /// Checks that the files are still what the digests in provenance() say, which takes as long as it took to digest them.
  /// @throws ChangedFile naming a file that was changed meanwhile
  virtual void require_unchanged() const = 0;
};

/// Refuses what was made of a source's documents if the files they were read from are no longer what provenance() says.
/// Asked before it is given out.
/// @throws ChangedFile naming the file
void require_unchanged(const Source& source);

}  // namespace headwave
