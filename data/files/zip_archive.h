#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "file_bytes.h"

namespace headwave {

/// One file in a zip archive, as numpy.savez writes them.
struct ZipMember {
  std::string name;
  std::size_t first = 0;  ///< first byte in the archive
  std::size_t bytes = 0;
};

/// Lists the files of a zip archive, which may be larger than 4 GB (zip64). Places and sizes are checked
/// against the archive's size; checksums are not compared.
///
/// Source: PKWARE, APPNOTE.TXT 6.3.3, sections 4.3 to 4.5.
/// @throws FormatError if the archive's directory is damaged, or a member is compressed
///         (numpy.savez_compressed) or encrypted; IoError if the file cannot be read
std::vector<ZipMember> zip_members(const FileBytes& file);

}  // namespace headwave
