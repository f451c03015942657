#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <sys/types.h>

#include "../../core/errors/error.h"

namespace headwave {

/// A file is not what it was when its digest was taken: what was read of it meanwhile is of no use.
class ChangedFile : public FormatError {
 public:
  using FormatError::FormatError;
};

/// Files whose digests were taken before they are read piece by piece, and which have to be the same afterwards: then
/// the digests are those of what was read. The system's times do not tell: a file that is written through a memory map
/// keeps them (tmpfs), or shows them late.
class DigestedFiles {
 public:
  DigestedFiles() = default;
  /// @throws IoError as sha256_list()
  explicit DigestedFiles(const std::vector<std::filesystem::path>& files);

  /// As sha256_list() of all.
  [[nodiscard]] const std::string& list() const { return list_; }

  /// Takes the digests anew. A file whose name another file has taken is left out: whoever has the first one open goes on
  /// reading it.
  /// @throws ChangedFile naming the first file that differs; IoError if one cannot be read
  void require_same() const;

 private:
  struct File {
    std::filesystem::path path;
    std::string digest;
    dev_t device;
    ino_t number;  // by which the system knows it, whatever its name
  };
  std::vector<File> files_;
  std::string list_;
};

}  // namespace headwave
