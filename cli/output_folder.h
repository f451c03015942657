#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "headwave/data/made_folders.h"

namespace headwave::cli {

/// What a command will write, by names within its folder.
struct OutputFiles {
  std::vector<std::filesystem::path> results;  ///< not to be replaced unasked
  std::vector<std::filesystem::path> others;   ///< that stand beside results
};

/// A folder that a command will write to. Opened before anything is computed: what would be lost after hours is found
/// out at once. Folders made for it go again if nothing came to lie in them; what an earlier run left in it goes only
/// once the new files are there.
class OutputFolder {
 public:
  /// Makes the folder and really tries to write into it.
  /// @param force  whether results may be replaced
  /// @throws IoError if a result is there and may not be replaced, or a file could not be written
  OutputFolder(const std::filesystem::path& folder, const OutputFiles& files, bool force);

  [[nodiscard]] const std::filesystem::path& path() const { return folder_; }

  /// @throws IoError unless the disk has so much room
  void require_space(std::int64_t bytes) const;

  /// A folder inside, made; it goes again like this one.
  std::filesystem::path inside(const std::filesystem::path& name);

  /// Removes files that an earlier run left, apart from those just written, and the folders inside that are empty then.
  /// @throws IoError if one cannot be removed
  void remove_old(const std::vector<std::filesystem::path>& old,
                  const std::vector<std::filesystem::path>& written) const;

 private:
  std::filesystem::path folder_;
  MadeFolders made_;
};

}  // namespace headwave::cli
