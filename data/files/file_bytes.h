#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "file_descriptor.h"

namespace headwave {

/// The bytes of a file, or of a part of one, read on request. Unlike a MappedFile they take no address space,
/// so a file may exceed any limit on memory. Several threads may read at once. Copies share the open file.
class FileBytes {
 public:
  /// @throws IoError if the path is missing, not a regular file (a folder, a pipe, a device) or not readable
  explicit FileBytes(const std::filesystem::path& path);

  /// A part of these bytes, which must lie inside them.
  [[nodiscard]] FileBytes part(std::size_t first, std::size_t size) const;

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  [[nodiscard]] std::size_t size() const { return size_; }
  /// Fills `into` with the bytes from `first` on.
  /// @throws IoError if there are fewer bytes, or the file cannot be read
  void read(std::size_t first, std::span<std::byte> into) const;
  /// Up to `most` bytes from `first` on, as text.
  /// @throws IoError as read()
  [[nodiscard]] std::string text(std::size_t first, std::size_t most) const;
  [[nodiscard]] int descriptor() const { return file_->get(); }  ///< the operating system's file descriptor

 private:
  std::filesystem::path path_;
  std::shared_ptr<const FileDescriptor> file_;
  std::size_t first_ = 0, size_ = 0;
};

/// A file mapped read-only into memory. Pages are read when they are first touched, and shared between
/// processes. The mapping lasts as long as the object, so code that hands out views of the bytes keeps the
/// object in a std::shared_ptr. If the file is cut short meanwhile, touching a lost page ends this program.
class MappedFile {
 public:
  /// Maps a whole file, which may be empty.
  /// @throws IoError if the path is missing, not a regular file (a folder, a pipe, a device) or not readable
  explicit MappedFile(const std::filesystem::path& path);
  /// Maps an open file, which may be closed afterwards.
  /// @throws IoError if the system refuses
  explicit MappedFile(const FileBytes& file);
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  ~MappedFile();

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] std::span<const std::byte> bytes() const { return {data_, size_}; }
  [[nodiscard]] std::string_view text() const { return {reinterpret_cast<const char*>(data_), size_}; }
  /// Frees the memory of some bytes, which are read again when touched. Memory goes in whole pieces of 2 MB,
  /// since the system may hold a file in pages of that size.
  void let_go(std::size_t first, std::size_t count) const;

 private:
  std::filesystem::path path_;
  const std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace headwave
