#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string_view>

namespace headwave {

/// The bytes of a file, mapped read-only into memory: pages are read when they are looked at, and shared between
/// processes. Holds until destroyed; whoever gives out views of the bytes keeps it in a std::shared_ptr. A file that
/// another process cuts short while it is mapped cannot be read safely by anyone: that is outside this class.
class MappedFile {
 public:
  /// Maps a whole file. An empty file has no bytes and is no error.
  /// @throws IoError if the path is missing, not a regular file (a folder, a pipe, a device) or not readable
  explicit MappedFile(const std::filesystem::path& path);
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  ~MappedFile();

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] std::span<const std::byte> bytes() const { return {data_, size_}; }
  [[nodiscard]] std::string_view text() const { return {reinterpret_cast<const char*>(data_), size_}; }

 private:
  std::filesystem::path path_;
  const std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace headwave
