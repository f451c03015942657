#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace headwave {

/// Folders made for what will be written into them: those in which nothing came to lie are removed again when the
/// object goes, so that what failed leaves none behind. Folders that were there before are left alone.
class MadeFolders {
 public:
  MadeFolders() = default;
  MadeFolders(const MadeFolders&) = delete;
  MadeFolders& operator=(const MadeFolders&) = delete;
  ~MadeFolders();

  /// Makes a folder and those it lies in.
  /// @throws IoError if it cannot be made, or a file has its name
  void make(const std::filesystem::path& folder);

 private:
  std::vector<std::filesystem::path> made_;  // outer before inner
};

/// Really tries to write a file: makes it beside its name, puts something in, and takes it away. What has the name
/// stays as it is.
/// @throws IoError if that cannot be done, or a folder has the name
void try_to_write(const std::filesystem::path& file);

/// Bytes that this user may still write to the disk of a folder; none: the file system does not know, as some in networks.
/// A user's quota counts where the file system says it here.
std::optional<std::uintmax_t> free_disk_space(const std::filesystem::path& folder);

/// "0.3 MB", "12 MB", "1.2 GB"; at least 0.1 MB.
std::string size_text(std::uintmax_t bytes);

}  // namespace headwave
