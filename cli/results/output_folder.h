#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "../../data/files/file_descriptor.h"
#include "../../data/files/replaced_file.h"
#include "../options/input_options.h"

namespace headwave::cli {

/// The files and folders that an input is read from; "-" is standard input.
std::vector<std::filesystem::path> read_files(const InputOptions& input);

/// The folder of a model, also if the model is named by a file in it.
std::filesystem::path folder_of_model(const std::filesystem::path& model);

/// Refuses to write over input, even with --force. Files are compared by device and inode, so links do not
/// hide them. In a folder that is read, all files count except those that an earlier headwave wrote: a result
/// may lie beside its model.
/// @param written  files that would be replaced or removed, if they exist
/// @param read     files and folders
/// @param option   that would name another place: "--out"
/// @throws IoError that names both
void require_unread(const std::vector<std::filesystem::path>& written, const std::vector<std::filesystem::path>& read,
                    const std::string& option);

/// The files that a command will write, by names within its folder.
struct OutputFiles {
  std::vector<std::filesystem::path> written;     ///< files that it may write: none is replaced without --force
  std::vector<std::filesystem::path> kept = {};   ///< files for resuming, which the command handles itself
  std::filesystem::path lock = ".headwave.lock";  ///< held by one process at a time
  std::string option = "--out";                   ///< that names the folder
  std::vector<std::filesystem::path> own = {};    ///< files of earlier runs that may be replaced and removed
  std::vector<std::filesystem::path> more = {};   ///< files that may be removed, and are not tried before
  std::vector<std::filesystem::path> read = {};   ///< files and folders, as for require_unread()
};

/// The folder that a command writes to. It is opened before anything is computed, so that what would fail
/// after hours fails at once. While the object lives, no other command writes there. Folders that were made
/// for it and stayed empty are removed; files of an earlier run are removed only once the new ones are
/// written.
class OutputFolder {
 public:
  /// Makes the folder and tries to write into it.
  /// @param force  whether any file may be replaced
  /// @throws IoError if input would be replaced, a file exists and may not be replaced, another command is
  ///         writing there, a file could not be written, or a folder inside is a link: nothing outside the
  ///         folder is ever written
  OutputFolder(const std::filesystem::path& folder, const OutputFiles& files, bool force);

  [[nodiscard]] const std::filesystem::path& path() const { return folder_; }

  /// Bytes free on its disk; empty if unknown.
  [[nodiscard]] std::optional<std::int64_t> free_space() const;

  /// Makes a folder inside, which is removed again if it stays empty.
  /// @throws IoError if it is a link, or cannot be made
  std::filesystem::path inside(const std::filesystem::path& name);

  /// Refuses files that appeared while the command computed, as the constructor does. Called before files get
  /// their names.
  /// @throws IoError as the constructor
  void require_free() const;

  /// Removes the files of an earlier run that were not written again, and folders inside that are empty then.
  /// Files that may not be replaced, or are reached through a link, stay.
  /// @throws IoError if one cannot be removed
  void remove_old(const std::vector<std::filesystem::path>& old,
                  const std::vector<std::filesystem::path>& written) const;

  /// Files of an earlier run that stay until remove_outdated(): what is drawn anew may fail.
  void outdate(std::vector<std::filesystem::path> files) { outdated_ = std::move(files); }
  /// As remove_old() of the outdated files.
  void remove_outdated(const std::vector<std::filesystem::path>& written) {
    remove_old(std::exchange(outdated_, {}), written);
  }

 private:
  /// The link nearest to a file on its way from the folder; empty if there is none.
  [[nodiscard]] std::filesystem::path link_before(const std::filesystem::path& file) const;
  void require_no_link(const std::filesystem::path& file) const;
  /// Whether a file may be replaced or removed.
  [[nodiscard]] bool is_free(const std::filesystem::path& file) const;

  std::filesystem::path folder_;
  std::vector<std::filesystem::path> written_, own_, outdated_;
  std::string option_;
  bool force_;
  MadeFolders made_;
  std::optional<LockFile> lock_;
};

/// Refuses to replace input by the files of a folder, as the folder does when it is opened.
/// @throws IoError as require_unread()
void require_unread(const std::filesystem::path& folder, const OutputFiles& files);

}  // namespace headwave::cli
