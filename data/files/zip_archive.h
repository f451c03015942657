#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "file_bytes.h"

namespace headwave {

/// One file in a zip archive, as numpy.savez writes them.
struct ZipMember {
  std::string name;
  std::size_t first = 0;  ///< first byte in the archive
  std::size_t bytes = 0;
  std::uint32_t check = 0;  ///< CRC-32 of the file
};

/// The files of a zip archive, beyond 4 GB (zip64) too. Places and sizes are checked against the file.
///
/// Source: PKWARE, APPNOTE.TXT 6.3.3, sections 4.3 to 4.5.
/// @throws FormatError if the directory is damaged, or a member is packed (numpy.savez_compressed) or encrypted; IoError
///         if the file cannot be read
std::vector<ZipMember> zip_members(const FileBytes& file);

/// The bytes of a member. Any read but that of its beginning first compares the whole member with its CRC-32, once.
class ZipBytes : public ReadableBytes {
 public:
  ZipBytes(std::shared_ptr<const FileBytes> file, ZipMember member)
      : file_(std::move(file)), member_(std::move(member)) {}
  [[nodiscard]] std::size_t size() const override { return member_.bytes; }
  /// @throws FormatError if the CRC differs; IoError if the file cannot be read
  void read(std::size_t first, std::span<std::byte> into) const override;

 private:
  std::shared_ptr<const FileBytes> file_;
  ZipMember member_;
  mutable std::once_flag once_;
};

}  // namespace headwave
