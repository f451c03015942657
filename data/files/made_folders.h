#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace headwave {

/// Creates folders for files to come. The destructor removes those that stayed empty, so that a failed
/// command leaves none; folders that existed before are left alone.
class MadeFolders {
 public:
  MadeFolders() = default;
  MadeFolders(const MadeFolders&) = delete;
  MadeFolders& operator=(const MadeFolders&) = delete;
  ~MadeFolders();

  /// Creates a folder and its parents.
  /// @throws IoError if it cannot be created, or a file has its name
  void make(const std::filesystem::path& folder);

 private:
  std::vector<std::filesystem::path> made_;  // outer before inner
};

/// Tests that a file can be written: creates a temporary file beside it, writes to it, and removes it. A file
/// of this name is not touched.
/// @throws IoError if that fails, or a folder has the name
void try_to_write(const std::filesystem::path& file);

/// Bytes that this user may still write to the disk of a folder, within a quota if the file system reports
/// one; nothing if the file system does not know, as some network file systems.
std::optional<std::uintmax_t> free_disk_space(const std::filesystem::path& folder);

/// "0.3 MB", "12 MB", "1.2 GB"; at least 0.1 MB.
std::string size_text(std::uintmax_t bytes);

}  // namespace headwave
