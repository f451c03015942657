#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "../../data/files/file_descriptor.h"
#include "../../data/files/replaced_file.h"
#include "../options/input_options.h"

namespace headwave::cli {

/// The files that an input is read from; "-" is standard input.
std::vector<std::filesystem::path> read_files(const InputOptions& input);

/// The files that a command will write, by names within its folder.
struct OutputFiles {
  std::vector<std::filesystem::path> written;     ///< files that it may write: none is replaced without --force
  std::filesystem::path lock = ".headwave.lock";  ///< held by one process at a time
  std::string option = "--out";                   ///< that names the folder
  std::vector<std::filesystem::path> read = {};   ///< files that the command reads: none is replaced, even with --force
};

/// The folder that a command writes to. It is opened before anything is computed, so that what would fail
/// after hours fails at once. While the object lives, no other command writes there.
class OutputFolder {
 public:
  /// Makes the folder and takes its lock.
  /// @param force  whether any file may be replaced
  /// @throws IoError if input would be replaced, a file exists and may not be replaced, another command is
  ///         writing there, or the folder cannot be written to
  OutputFolder(const std::filesystem::path& folder, const OutputFiles& files, bool force);

  [[nodiscard]] const std::filesystem::path& path() const { return folder_; }
  [[nodiscard]] bool may_replace() const { return force_; }

  /// Makes a folder inside.
  /// @throws IoError if it cannot be made
  [[nodiscard]] std::filesystem::path inside(const std::filesystem::path& name) const;

  /// Removes files of an earlier result, and folders inside that are empty then.
  /// @throws IoError if one cannot be removed
  void remove(const std::vector<std::filesystem::path>& files) const;

 private:
  std::filesystem::path folder_;
  bool force_;
  std::optional<LockFile> lock_;
};

}  // namespace headwave::cli
