#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <optional>

#include "sealed_file.h"

namespace headwave {

/// The file from which an interrupted run is resumed: the sums over the documents so far. It appears whole or
/// not at all and is replaced from time to time, so seldom that writing it takes at most a tenth of the run.
class ResumeFile {
 public:
  /// Reads the file if there is one.
  /// @param identity  everything that the result depends on, by name: model, input, options, program
  /// @param seconds   least time between two writings; 0: writes after every document, whatever it costs
  /// @throws IoError if the file cannot be read; FormatError if it is damaged, or belongs to another run:
  ///         then it names what differs
  ResumeFile(const std::filesystem::path& file, const Attributes& identity, double seconds);

  /// How many of the first documents an earlier run looked at.
  [[nodiscard]] Index documents() const { return documents_; }
  /// The sums over those documents; read them before the next keep().
  [[nodiscard]] ByteReader sums() const { return ByteReader(sums_); }

  /// Whether it is time to write the sums.
  [[nodiscard]] bool is_due() const;
  /// Replaces the file.
  /// @param documents  how many of the first documents are in the sums
  /// @throws IoError if the disk refuses; the file is then what it was
  void keep(Index documents, const std::function<void(ByteWriter&)>& sums);

  /// Removes the file, if there is one, once the result is written, or if a resumed run would fail in the
  /// same way.
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
