#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "file_descriptor.h"

namespace headwave {

/// The bytes of a file, or of a part of one, read when they are asked for. Unlike those of a MappedFile they take no
/// room in the address space: a file may be larger than any limit on memory. Several threads may read at once. Copies
/// share the open file.
class FileBytes {
 public:
  /// @throws IoError if the path is missing, not a regular file (a folder, a pipe, a device) or not readable
  explicit FileBytes(const std::filesystem::path& path);

  /// Some of the bytes, which must lie inside.
  [[nodiscard]] FileBytes part(std::size_t first, std::size_t size) const;

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  [[nodiscard]] std::size_t size() const { return size_; }
  /// Fills `into` with the bytes from `first` on.
  /// @throws IoError if there are fewer, or they cannot be read
  void read(std::size_t first, std::span<std::byte> into) const;
  /// At most `most` bytes from `first` on, as text.
  /// @throws IoError as read()
  [[nodiscard]] std::string text(std::size_t first, std::size_t most) const;
  [[nodiscard]] int descriptor() const { return file_->get(); }  ///< the system's number of the open file

 private:
  std::filesystem::path path_;
  std::shared_ptr<const FileDescriptor> file_;
  std::size_t first_ = 0, size_ = 0;
};

/// The bytes of a file, mapped read-only into memory: pages are read when they are looked at, and shared
/// between processes. The mapping holds until the object is destroyed; whoever gives out views of the bytes
/// keeps it in a std::shared_ptr. If somebody cuts the file short meanwhile, looking at a page that is gone
/// ends the program.
class MappedFile {
 public:
  /// Maps a whole file. An empty file has no bytes and is no error.
  /// @throws IoError if the path is missing, not a regular file (a folder, a pipe, a device) or not readable
  explicit MappedFile(const std::filesystem::path& path);
  /// Maps a file that is open; it may be closed meanwhile.
  /// @throws IoError if the system does not map it
  explicit MappedFile(const FileBytes& file);
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  ~MappedFile();

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] std::span<const std::byte> bytes() const { return {data_, size_}; }
  [[nodiscard]] std::string_view text() const { return {reinterpret_cast<const char*>(data_), size_}; }
  /// Gives the memory of some bytes back to the system; they are read again when somebody looks at them.
  /// Their neighbours go with them, to the ends of the pieces of 2 MB in which the system may hold a file.
  void let_go(std::size_t first, std::size_t count) const;

 private:
  std::filesystem::path path_;
  const std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace headwave
