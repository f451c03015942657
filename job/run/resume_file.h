#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <optional>

#include "sealed_file.h"

namespace headwave {

/// The file from which an interrupted run is resumed. It contains the sums over the documents so far. Each
/// version of the file appears whole or not at all. The file is replaced seldom enough that writing takes at
/// most a tenth of the run.
class ResumeFile {
 public:
  /// Reads the file if there is one.
  /// @param identity  everything that the result depends on, by name: model, input, options, program
  /// @param seconds   shortest time between two versions; 0: write after every document, whatever it costs
  /// @throws IoError if the file cannot be read; FormatError if it is damaged or of another run, with what
  ///         differs
  ResumeFile(const std::filesystem::path& file, const Attributes& identity, double seconds);

  /// How many documents, from the first on, an earlier run has done.
  [[nodiscard]] Index documents() const { return documents_; }
  /// The sums over these documents. Read the sums before the next keep().
  [[nodiscard]] ByteReader sums() const { return ByteReader(sums_); }

  /// Whether it is time to write the sums.
  [[nodiscard]] bool is_due() const;
  /// Replaces the file by a new version.
  /// @param documents  how many documents, from the first on, the sums cover
  /// @throws IoError if the file cannot be written; an earlier one then stays as it was
  void keep(Index documents, const std::function<void(ByteWriter&)>& sums);

  /// Removes the file, if there is one. Call this when the result is written, or a resumed run would fail
  /// again.
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
