#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "file_descriptor.h"

namespace headwave {

/// A file that appears whole or not at all: it is written as NAME.headwave-partial in the same folder, synced
/// to the disk, and renamed. Without commit() the destructor removes the temporary file, and an earlier file
/// of that name stays. The temporary file of a process that died is overwritten, but while one process writes
/// the file, another writer is refused.
class ReplacedFile {
 public:
  /// Creates the temporary file, empty.
  /// @param replace  whether commit() may replace an earlier file of that name
  /// @throws IoError if the folder is missing or not writable, the path is a folder, pipe or device, another
  ///         process writes it, or there is an earlier file that may not be replaced
  explicit ReplacedFile(const std::filesystem::path& path, bool replace = true);
  ReplacedFile(const ReplacedFile&) = delete;
  ReplacedFile& operator=(const ReplacedFile&) = delete;
  ~ReplacedFile();

  /// The final name of the file.
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

  /// The temporary name, for a library that opens files itself.
  [[nodiscard]] const std::filesystem::path& temporary() const { return temporary_; }

  /// Appends to the temporary file.
  /// @throws IoError if the disk refuses
  void write(std::string_view bytes);

  /// Appends the seal of the temporary file's bytes (digest.h). Nothing may be written after the seal.
  /// @throws IoError if the file cannot be read, or the disk refuses
  void seal() const;

  /// Syncs the temporary file, renames it to its final name, and syncs the folder.
  /// @throws IoError if the disk refuses, or the name was taken meanwhile by a file that may not be replaced
  void commit();

 private:
  std::filesystem::path path_;
  std::filesystem::path temporary_;
  bool replace_;
  FileDescriptor folder_;  // opened first: a folder that cannot be synced is refused before anything is written
  FileDescriptor file_;    // open all the time, so that a sync reports every write that failed
};

/// Commits files that belong together, once all of them are written.
/// @throws IoError as commit()
void commit_all(const std::vector<std::unique_ptr<ReplacedFile>>& files);

/// Writes a text file that appears whole or not at all.
/// @throws IoError as ReplacedFile
void write_text(const std::filesystem::path& path, std::string_view text);

/// Creates a folder and its missing parents.
/// @throws IoError if a folder cannot be created
void make_folder(const std::filesystem::path& folder);

/// Whether a name fits a pattern in which '#' stands for a number in digits: "block-#-of-#.part". Left-over
/// files are removed only if they have such a name.
bool is_numbered_name(std::string_view name, std::string_view pattern);

}  // namespace headwave
