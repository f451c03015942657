#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "../../data/files/file_lock.h"
#include "../../data/files/made_folders.h"
#include "../options/input_options.h"

namespace headwave::cli {

/// All that an input is read from: files, and folders with files in them; "-" is standard input.
std::vector<std::filesystem::path> read_files(const InputOptions& input);

/// Where a model is read from: its folder, also where a file in it names it.
std::filesystem::path folder_of_model(const std::filesystem::path& model);

/// Refuses to write over what is read, whatever --force says. Files are the same by device and inode, so through links of
/// both kinds. In a folder that is read all files count but those that an earlier headwave wrote there: a result may lie
/// beside its model.
/// @param written  files that would be replaced or removed, where they are there
/// @param read     files and folders
/// @param option   that names another place: "--out"
/// @throws IoError that names both
void require_unread(const std::vector<std::filesystem::path>& written, const std::vector<std::filesystem::path>& read,
                    const std::string& option);

/// What a command will write, by names within its folder.
struct OutputFiles {
  std::vector<std::filesystem::path> written;     ///< all that it may write: none is replaced unasked
  std::vector<std::filesystem::path> kept = {};   ///< of work that goes on later: the command says what becomes of them
  std::filesystem::path lock = ".headwave.lock";  ///< of which one process at a time has one
  std::string option = "--out";                   ///< that names the folder
  std::vector<std::filesystem::path> own = {};    ///< of those written, and older: they may be replaced and removed
  std::vector<std::filesystem::path> more = {};   ///< that may be removed, and are not tried before
  std::vector<std::filesystem::path> read = {};   ///< files and folders, as require_unread() takes them
};

/// A folder that a command will write to. Opened before anything is computed: what would be lost after hours is found
/// out at once. While it lives no other command writes there. Folders made for it go again if nothing came to lie in them;
/// what an earlier run left in it goes only once the new files are there.
class OutputFolder {
 public:
  /// Makes the folder and really tries to write into it.
  /// @param force  whether any file may be replaced
  /// @throws IoError if something would be replaced that is read, a file is there and may not be replaced, another
  ///         command is writing there, a file could not be written, or a folder inside is a link: nothing outside is ever
  ///         written to
  OutputFolder(const std::filesystem::path& folder, const OutputFiles& files, bool force);

  [[nodiscard]] const std::filesystem::path& path() const { return folder_; }

  /// Bytes that may still be written there; none: nobody knows.
  [[nodiscard]] std::optional<std::int64_t> free_space() const;
  /// @throws IoError unless the disk has so much room
  void require_space(std::int64_t bytes) const;

  /// A folder inside, made; it goes again like this one.
  /// @throws IoError if it is a link, or cannot be made
  std::filesystem::path inside(const std::filesystem::path& name);

  /// Refuses what came to lie there while the command computed, as the constructor does: to be asked before files get
  /// their names.
  /// @throws IoError as the constructor
  void require_free() const;

  /// Removes files that an earlier run left, apart from those just written, and the folders inside that are empty then;
  /// nothing that may not be replaced, and nothing behind a link that somebody put into the folder.
  /// @throws IoError if one cannot be removed
  void remove_old(const std::vector<std::filesystem::path>& old,
                  const std::vector<std::filesystem::path>& written) const;

 private:
  /// The first link on the way from the folder to a file inside, seen from the file; empty: there is none.
  [[nodiscard]] std::filesystem::path link_before(const std::filesystem::path& file) const;
  void require_no_link(const std::filesystem::path& file) const;
  /// Whether a file may be replaced or removed.
  [[nodiscard]] bool is_free(const std::filesystem::path& file) const;

  std::filesystem::path folder_;
  std::vector<std::filesystem::path> written_, own_;
  std::string option_;
  bool force_;
  MadeFolders made_;
  std::optional<LockFile> lock_;
};

/// Refuses the files of a folder where one that is read would be replaced, as the folder does when it is opened.
/// @throws IoError as require_unread()
void require_unread(const std::filesystem::path& folder, const OutputFiles& files);

}  // namespace headwave::cli
