#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <optional>

#include "sealed_file.h"

namespace headwave {

/// The file from which an interrupted run is resumed: the sums over its documents so far. It appears whole or
/// not at all. It is replaced now and then, so seldom that writing takes at most a tenth of the run.
class ResumeFile {
 public:
  /// Reads the file if there is one.
  /// @param identity  everything on which the result depends, by name: model, input, options, program
  /// @param seconds   least time between two writings; 0: after every document, whatever it costs
  /// @throws IoError if the file cannot be read; FormatError if it is damaged, or belongs to another run,
  ///         with what differs
  ResumeFile(const std::filesystem::path& file, const Attributes& identity, double seconds);

  /// The number of first documents that an earlier run looked at.
  [[nodiscard]] Index documents() const { return documents_; }
  /// The sums over these documents. Read them before the next keep().
  [[nodiscard]] ByteReader sums() const { return ByteReader(sums_); }

  /// Whether it is time to write the sums.
  [[nodiscard]] bool is_due() const;
  /// Replaces the file.
  /// @param documents  number of first documents that the sums cover
  /// @throws IoError if the file cannot be written; an earlier one then stays as it was
  void keep(Index documents, const std::function<void(ByteWriter&)>& sums);

  /// Removes the file, if there is one: when the result is written, or when a resumed run would fail again.
  void remove();

 private:
  using Clock = std::chrono::steady_clock;

  std::filesystem::path file_;
  Attributes identity_;
  std::optional<SealedFile> found_;
  std::string_view sums_;  // in found_
  Index documents_ = 0;
  Clock::duration between_;
  Clock::time_point kept_ = Clock::now();
};

}  // namespace headwave
