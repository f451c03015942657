#pragma once

#include <filesystem>
#include <optional>
#include <vector>

#include "../../data/sources/state_writer.h"
#include "../run/unfinished_run.h"

namespace headwave {

/// Stored states that grow over more than one run. What there is becomes a part now and then, whole and synced,
/// "states.h5.part0", and in the end the file is put together from its parts: they and the file are on the disk together
/// for a moment. A run that keeps nothing writes the file itself.
class CapturedParts {
 public:
  /// Goes on behind the parts of an earlier run; without one, parts that lie there are removed.
  /// @param kept  what says when to keep, and remembers how many documents there are; may be null
  /// @throws IoError, FormatError if an earlier part is not there or holds other documents
  CapturedParts(const std::filesystem::path& file, const BlockSpec& block, const StateLayout& layout,
                UnfinishedRun* kept);

  /// Documents that an earlier run stored, the first of all.
  [[nodiscard]] Index earlier() const { return earlier_; }

  /// @param more  whether another comes after it
  /// @throws Error as StateWriter and UnfinishedRun::keep()
  void append(const Document& document, bool more);

  /// @throws Error as StateWriter; IoError if the disk has no room for parts and file together: they stay
  void finish(const Attributes& provenance);

  /// Removes parts and what remembers them: they are in the file, or another run would come to the same end.
  void remove_all();

 private:
  StateWriter& writer();
  void keep();
  void put_together(const Attributes& provenance);

  std::filesystem::path file_;
  BlockSpec block_;
  StateLayout layout_;
  UnfinishedRun* kept_;
  Index earlier_ = 0;
  std::vector<Index> ends_;  // documents up to and with each part
  Index documents_ = 0;
  std::optional<StateWriter> writer_;
};

/// The parts of a file that lie beside it, whosever.
std::vector<std::filesystem::path> captured_parts(const std::filesystem::path& file);

/// Removes the parts of a file that is whole, or that nobody wants any more.
void remove_captured_parts(const std::filesystem::path& file);

}  // namespace headwave
