#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "file_descriptor.h"

namespace headwave {

/// A sequence of bytes of which any piece can be read: a file's, or unpacked ones. May be read from several
/// threads at once.
class ReadableBytes {
 public:
  ReadableBytes() = default;
  ReadableBytes(const ReadableBytes&) = delete;
  ReadableBytes& operator=(const ReadableBytes&) = delete;
  virtual ~ReadableBytes() = default;

  [[nodiscard]] virtual std::size_t size() const = 0;
  /// Fills `into` with the bytes from `first` on.
  /// @throws IoError if there are fewer, or they cannot be read
  virtual void read(std::size_t first, std::span<std::byte> into) const = 0;
  /// At most `most` bytes from `first` on, as text.
  /// @throws IoError as read()
  [[nodiscard]] std::string text(std::size_t first, std::size_t most) const;
};

/// The bytes of a file, read when they are asked for. Unlike those of a MappedFile they take no room in the
/// address space: a file may be larger than any limit on memory.
class FileBytes : public ReadableBytes {
 public:
  /// @throws IoError if the path is missing, not a regular file (a folder, a pipe, a device) or not readable
  explicit FileBytes(const std::filesystem::path& path);

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  [[nodiscard]] std::size_t size() const override { return size_; }
  void read(std::size_t first, std::span<std::byte> into) const override;
  [[nodiscard]] int descriptor() const { return file_.get(); }  ///< the system's number of the open file

 private:
  std::filesystem::path path_;
  FileDescriptor file_;
  std::size_t size_ = 0;
};

/// A part of other bytes, which outlive this.
class PartOfBytes : public ReadableBytes {
 public:
  /// @param size  of the part, which lies inside
  PartOfBytes(const ReadableBytes& all, std::size_t first, std::size_t size) : all_(all), first_(first), size_(size) {}
  [[nodiscard]] std::size_t size() const override { return size_; }
  void read(std::size_t first, std::span<std::byte> into) const override;

 private:
  const ReadableBytes& all_;
  std::size_t first_, size_;
};

/// Bytes that were unpacked.
class MemoryBytes : public ReadableBytes {
 public:
  explicit MemoryBytes(std::vector<std::byte> bytes) : bytes_(std::move(bytes)) {}
  [[nodiscard]] std::size_t size() const override { return bytes_.size(); }
  void read(std::size_t first, std::span<std::byte> into) const override;

 private:
  std::vector<std::byte> bytes_;
};

}  // namespace headwave
