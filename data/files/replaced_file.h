#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "file_descriptor.h"

namespace headwave {

/// A file that appears whole or not at all: written under a temporary name in the same folder, synced to the disk,
/// renamed. Unless commit() was reached the temporary file is removed, and what stood at the path before still stands
/// there. Temporary files of processes that died are removed by the next that writes the same file.
class ReplacedFile {
 public:
  /// Creates the temporary file, empty.
  /// @throws IoError if the folder is missing or not writable, or the path is a folder
  explicit ReplacedFile(const std::filesystem::path& path);
  ReplacedFile(const ReplacedFile&) = delete;
  ReplacedFile& operator=(const ReplacedFile&) = delete;
  ~ReplacedFile();

  /// What its name will be.
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

  /// Where to write meanwhile, for a library that opens its files itself.
  [[nodiscard]] const std::filesystem::path& temporary() const { return temporary_; }

  /// Appends to the temporary file.
  /// @throws IoError if the disk refuses
  void write(std::string_view bytes);

  /// Appends the digest of all that the temporary file holds (seal_mark): the last that is written to it.
  /// @throws IoError if the file cannot be read, or the disk refuses
  void seal() const;

  /// Syncs the temporary file and has the system drop it from memory: whoever reads it next reads the disk.
  /// @throws IoError if the disk refuses
  void forget() const;

  /// Syncs the temporary file, gives it its name, and syncs the folder.
  /// @throws IoError if the disk refuses, or an input was changed while it was read (require_intact_files())
  void commit();

  /// The same under another name in the folder.
  /// @throws IoError as commit()
  void commit_as(const std::filesystem::path& path);

 private:
  std::filesystem::path path_;
  std::filesystem::path temporary_;
  FileDescriptor folder_;  // open as well: one that cannot be synced in the end is refused in the beginning
  FileDescriptor file_;    // open from beginning to end: what the disk could not take in between, syncing it will tell
};

/// Gives files that belong together their names once all of them are on the disk, all or none: what had the names is set
/// aside first, and gets them back where one is refused. A process that dies in between leaves names without a file, and
/// never a new file beside an earlier one. A single file is committed.
/// @throws IoError as commit()
void commit_all(const std::vector<std::unique_ptr<ReplacedFile>>& files);

/// Writes a text so that the file appears whole or not at all.
/// @throws IoError as ReplacedFile, or if the disk refuses
void write_text(const std::filesystem::path& path, std::string_view text);

/// Writes a text that nobody sees before it is whole, as in a folder of scratch files: no detour and no syncing.
/// @throws IoError if the file cannot be written
void write_scratch_text(const std::filesystem::path& path, std::string_view text);

/// Makes a folder and those it lies in; one that is there already is left alone.
/// @throws IoError if it cannot be made
void make_folder(const std::filesystem::path& folder);

}  // namespace headwave
