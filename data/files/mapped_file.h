#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string_view>

#include "file_bytes.h"
#include "file_watch.h"

namespace headwave {

/// The bytes of a file, mapped read-only into memory: pages are read when they are looked at, and shared between
/// processes. Holds until destroyed; whoever gives out views of the bytes keeps it in a std::shared_ptr. What becomes of
/// a file that somebody else changes meanwhile: require_intact_files().
class MappedFile {
 public:
  /// Maps a whole file. An empty file has no bytes and is no error.
  /// @throws IoError if the path is missing, not a regular file (a folder, a pipe, a device) or not readable
  explicit MappedFile(const std::filesystem::path& path);
  /// Of a file that is open; it may be closed meanwhile.
  /// @throws IoError if the system does not map it
  explicit MappedFile(const FileBytes& file);
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  ~MappedFile();

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] std::span<const std::byte> bytes() const { return {data_, size_}; }
  [[nodiscard]] std::string_view text() const { return {reinterpret_cast<const char*>(data_), size_}; }
  /// Lets go of some bytes, which others may look at meanwhile: they are read again when somebody looks at them, and take no
  /// memory of this process until then. Those around them go with them, to the ends of the pieces of 2 MB in which the system may
  /// hold a file: to look at one number maps such a piece.
  void let_go(std::size_t first, std::size_t count) const;

 private:
  std::filesystem::path path_;
  const std::byte* data_ = nullptr;
  std::size_t size_ = 0;
  std::size_t place_ = 0;  // among the mapped files
  FileWatch watch_;
};

/// From now on pages that a mapped file no longer has, because it was cut short or its disk failed, are read as zeros,
/// and require_intact_files() says so; without this they end the program without a word (SIGBUS). For a program's
/// main(): a library does not take signals. Reading costs nothing more. @see require_intact_files
void survive_lost_pages();

}  // namespace headwave
