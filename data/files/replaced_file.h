#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "file_descriptor.h"

namespace headwave {

/// A file that appears whole or not at all: it is written as NAME.headwave-partial in the same folder, synced to the disk, and
/// renamed. Without commit() the destructor removes the temporary file, and an earlier file of that name remains. What
/// a process that died left of it is written over by the next one; a second one at the same time is refused.
class ReplacedFile {
 public:
  /// Creates the temporary file, empty.
  /// @param replace  whether an earlier file of that name is replaced
  /// @throws IoError if the folder is missing or not writable, the path is a folder, another process writes it, or there
  ///         is a file that may not be replaced
  explicit ReplacedFile(const std::filesystem::path& path, bool replace = true);
  ReplacedFile(const ReplacedFile&) = delete;
  ReplacedFile& operator=(const ReplacedFile&) = delete;
  ~ReplacedFile();

  /// The name that the file will get.
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

  /// The temporary name, for a library that opens its files itself.
  [[nodiscard]] const std::filesystem::path& temporary() const { return temporary_; }

  /// Appends to the temporary file.
  /// @throws IoError if the disk refuses
  void write(std::string_view bytes);

  /// Appends the digest of all that the temporary file holds (seal_mark). Nothing may be written after it.
  /// @throws IoError if the file cannot be read, or the disk refuses
  void seal() const;

  /// Syncs the temporary file, gives it its name, and syncs the folder.
  /// @throws IoError if the disk refuses, or a file that may not be replaced has the name by now
  void commit();

 private:
  std::filesystem::path path_;
  std::filesystem::path temporary_;
  bool replace_;
  FileDescriptor folder_;  // opened first: a folder that cannot be synced is refused before anything is written
  FileDescriptor file_;    // open from beginning to end: syncing it reports every write that failed in between
};

/// Gives files that belong together their names, once all of them are written.
/// @throws IoError as commit()
void commit_all(const std::vector<std::unique_ptr<ReplacedFile>>& files);

/// Writes a text so that the file appears whole or not at all.
/// @throws IoError as ReplacedFile, or if the disk refuses
void write_text(const std::filesystem::path& path, std::string_view text);

/// Creates a folder and its parents; existing ones are left alone.
/// @throws IoError if it cannot be created
void make_folder(const std::filesystem::path& folder);

/// Whether a name is the pattern with a number in digits for each '#': "block-#-of-#.part". Only files with
/// such a name are taken for left-overs of ours and removed.
bool is_numbered_name(std::string_view name, std::string_view pattern);

}  // namespace headwave
