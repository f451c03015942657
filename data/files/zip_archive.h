#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "file_bytes.h"

namespace headwave {

/// One file in a zip archive.
struct ZipMember {
  std::string name;
  bool deflated = false;    ///< packed with deflate; otherwise stored unchanged
  std::size_t first = 0;    ///< first byte in the archive
  std::size_t packed = 0;   ///< bytes in the archive
  std::size_t bytes = 0;    ///< bytes of the file
  std::uint32_t check = 0;  ///< CRC-32 of the file
};

/// The files of a zip archive, in the order of its directory; archives and members beyond 4 GB (zip64) too.
///
/// Every place and size is checked against the file before anything is read there.
///
/// Source: PKWARE, APPNOTE.TXT 6.3.3, sections 4.3 to 4.5.
/// @throws FormatError if the directory is damaged, a name occurs twice, or a member is encrypted or packed
///         otherwise than with deflate; IoError if the file cannot be read
std::vector<ZipMember> zip_members(const FileBytes& file);

/// The bytes of a member. A prefix, as of a header, is read or unpacked only as far as it is asked for. Any
/// other read first checks the whole member against its CRC-32, once; a packed member is then kept unpacked
/// in memory.
class ZipBytes : public ReadableBytes {
 public:
  ZipBytes(std::shared_ptr<const FileBytes> file, ZipMember member)
      : file_(std::move(file)), member_(std::move(member)) {}
  [[nodiscard]] std::size_t size() const override { return member_.bytes; }
  /// @throws FormatError if it does not unpack to its size, the check differs, or it is packed and larger
  ///         than 1 GiB; IoError if the file cannot be read
  void read(std::size_t first, std::span<std::byte> into) const override;

 private:
  void read_all() const;
  void require_sound(std::uint32_t check) const;

  std::shared_ptr<const FileBytes> file_;
  ZipMember member_;
  mutable std::once_flag once_;
  mutable std::unique_ptr<MemoryBytes> all_;
};

}  // namespace headwave
