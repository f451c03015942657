#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "../arrays/array_block.h"
#include "hdf5_handle.h"

namespace headwave {

/// Opens a group, dataset or type by its path, through soft links inside the file, never into another file.
/// @throws FormatError if there is none or it cannot be opened
Hdf5Handle hdf5_object(hid_t file, const std::string& path);

/// A filter that a dataset's chunks went through when they were written.
struct Hdf5Filter {
  H5Z_filter_t id;
  std::string text;  ///< "shuffle", "gzip 2", "fletcher32", "filter 32001 blosc"
};

/// An open dataset. It refuses to read what a damaged or hostile file could use against the library. Messages
/// do not name the file: the caller does.
///
/// Packed chunks must unpack to their size before the library unpacks them: it (1.10 at least) copies a chunk's full
/// size out of what the filters gave, so a chunk that unpacks to less makes it read beyond its memory. Filters
/// other than shuffle, gzip and fletcher32 are refused.
class Hdf5Dataset {
 public:
  /// @throws FormatError if the object is not a dataset or is broken
  explicit Hdf5Dataset(Hdf5Handle object);
  /// @throws FormatError also if there is no such object
  Hdf5Dataset(hid_t file, const std::string& path) : Hdf5Dataset(hdf5_object(file, path)) {}

  [[nodiscard]] hid_t id() const { return dataset_.id(); }
  [[nodiscard]] hid_t type() const { return type_.id(); }
  [[nodiscard]] hid_t space() const { return space_.id(); }
  [[nodiscard]] const Hdf5Extent& extent() const { return extent_; }
  [[nodiscard]] ArrayBlock whole() const { return whole_block(extent_.shape); }

  /// Layout and filters in words: "chunks (1, 64), shuffle, gzip 2".
  [[nodiscard]] std::string storage_text() const;

  /// @throws FormatError if its data lies in other files, which are not followed
  void require_own_data() const;

  /// Refuses a block that must not be read: data outside the file, or more data than the file's bytes can
  /// stand for.
  /// @param memory_entry  bytes of one entry in memory
  /// @throws FormatError
  void check_readable(std::uintmax_t file_bytes, std::size_t memory_entry, const ArrayBlock& block) const;

  /// Reads a block of numbers that check_readable() accepted, converted by the library.
  /// @param memory_type  a number of the machine
  /// @param values       room for all entries of the block
  /// @throws FormatError if a chunk does not unpack to its size or has another checksum, or if there are more than a million chunks; IoError if the file cannot be read
  void read(std::uintmax_t file_bytes, hid_t memory_type, const ArrayBlock& block, void* values);

  /// Reads all texts.
  /// @throws as read(), or FormatError if they are not text
  [[nodiscard]] std::vector<std::string> strings(std::uintmax_t file_bytes);

 private:
  struct Chunk {
    std::size_t number;          // in the dataset, row-major
    std::vector<hsize_t> first;  // its first entry along each axis
  };

  [[nodiscard]] bool has_chunks() const;
  [[nodiscard]] std::size_t chunk_bytes() const;
  void each_chunk(const ArrayBlock& block, const std::function<void(const Chunk&)>& see) const;
  [[nodiscard]] bool is_packed(const Chunk& chunk) const;
  [[nodiscard]] std::optional<std::size_t> stored_bytes(const Chunk& chunk, std::uintmax_t file_bytes) const;
  void check_chunks(std::uintmax_t file_bytes, const ArrayBlock& block);
  void require_unpacked_size(const Chunk& chunk, std::size_t stored);

  Hdf5Handle dataset_;
  Hdf5Handle type_;
  Hdf5Handle space_;
  Hdf5Handle layout_;  // the creation properties
  Hdf5Extent extent_;
  std::vector<hsize_t> chunk_;                // sizes along the axes; empty if the dataset is not chunked
  std::vector<Hdf5Filter> filters_;           // in the order in which they were applied
  bool is_checked_ = false;                   // the plain chunks have their sizes
  std::set<std::size_t> checked_;             // numbers of packed chunks that unpack to their size
  std::vector<std::byte> packed_, unpacked_;  // memory that is used again
};

}  // namespace headwave
