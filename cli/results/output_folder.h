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

/// The files from which an input is read. "-" means standard input.
std::vector<std::filesystem::path> read_files(const InputOptions& input);

/// The files that a command may write, by their names within its folder.
struct OutputFiles {
  std::vector<std::filesystem::path> written;     ///< files that the command may write; --force allows replacing them
  std::filesystem::path lock = ".headwave.lock";  ///< lock file, which one process holds at a time
  std::string option = "--out";                   ///< the option that names the folder
  std::vector<std::filesystem::path> read = {};   ///< files that the command reads; they are never replaced
};

/// The folder to which a command writes. It is opened before anything is computed, so that errors appear at
/// once and not after hours. While the object lives, no other command writes to the folder.
class OutputFolder {
 public:
  /// Makes the folder if it is missing, and takes its lock.
  /// @param force  whether existing files may be replaced
  /// @throws IoError if an input would be replaced, a file exists and may not be replaced, another command
  ///         writes to the folder, or the folder cannot be written to
  OutputFolder(const std::filesystem::path& folder, const OutputFiles& files, bool force);

  [[nodiscard]] const std::filesystem::path& path() const { return folder_; }
  [[nodiscard]] bool may_replace() const { return force_; }

  /// Makes a folder inside this one, if it is missing.
  /// @throws IoError if it cannot be made
  [[nodiscard]] std::filesystem::path inside(const std::filesystem::path& name) const;

  /// Removes files of an earlier result, and then the folders inside this one that become empty.
  /// @throws IoError if a file cannot be removed
  void remove(const std::vector<std::filesystem::path>& files) const;

 private:
  std::filesystem::path folder_;
  bool force_;
  std::optional<LockFile> lock_;
};

}  // namespace headwave::cli
