#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <optional>

#include "job.h"
#include "kept_bytes.h"

namespace headwave {

/// What a job made of its documents so far, kept in a file, so that after a dead machine, a full disk or an impatient
/// user another run goes on where this one was. The file appears whole or not at all, and another takes its place now
/// and then; a long time after each, so that keeping takes a hundredth of the time at most.
class UnfinishedRun {
 public:
  /// Reads the file if there is one.
  /// @param identity  all that the answer depends on, by name: model, input, options, program
  /// @param seconds   between one keeping and the next, at least; 0: always, whatever it costs
  /// @throws IoError if the file cannot be read; FormatError if it is damaged, or, naming what differs, another run's
  UnfinishedRun(const std::filesystem::path& file, const Attributes& identity, double seconds);

  /// Documents that an earlier run went through, the first of all.
  [[nodiscard]] Index documents() const { return documents_; }
  /// What it made of them; to be read before the next keep().
  [[nodiscard]] ByteReader sums() const { return ByteReader(sums_); }

  /// Whether it is time to keep what there is.
  [[nodiscard]] bool is_due() const;
  /// @param documents  that are in the sums, the first of all
  /// @throws IoError if the disk refuses; what was kept before is still there
  void keep(Index documents, const std::function<void(ByteWriter&)>& sums);

  /// Once the result is written, or nothing is worth keeping. Nothing where no file was made.
  void remove();

 private:
  using Clock = std::chrono::steady_clock;

  std::filesystem::path file_;
  Attributes identity_;
  std::optional<KeptBytes> found_;
  std::string_view sums_;  // in found_
  Index documents_ = 0;
  Clock::duration between_;
  Clock::time_point kept_ = Clock::now();
};

/// All documents, from those on that an earlier run went through; what they come to is kept.
/// @param kept  must outlive the job
Gather kept_in(UnfinishedRun& kept);

}  // namespace headwave
