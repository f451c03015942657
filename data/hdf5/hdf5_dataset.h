#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "../arrays/array_block.h"
#include "hdf5_chunks.h"
#include "hdf5_handle.h"
#include "hdf5_places.h"
#include "hdf5_type.h"

namespace headwave {

/// Opens a group, dataset or type by its path, through soft links inside the file, never into another file.
/// @throws FormatError if there is none or it cannot be opened
Hdf5Handle hdf5_object(hid_t file, const std::string& path);

/// An open dataset, with what one asks before reading it. Messages do not name the file: the caller does.
class Hdf5Dataset {
 public:
  /// @throws FormatError if there is none of that path, or it cannot be opened
  Hdf5Dataset(hid_t file, const std::string& path) : Hdf5Dataset(hdf5_object(file, path)) {}
  /// @throws FormatError if the object is not a dataset or is broken
  explicit Hdf5Dataset(Hdf5Handle object);

  [[nodiscard]] hid_t id() const { return dataset_.id(); }
  [[nodiscard]] hid_t type() const { return type_.id(); }
  [[nodiscard]] hid_t space() const { return space_.id(); }
  [[nodiscard]] const Hdf5Extent& extent() const { return extent_; }

  /// Layout and filters in words: "chunks (1, 64), shuffle, gzip 2".
  [[nodiscard]] std::string storage_text() const;

  /// Refuses data that lies in other files, which are not followed.
  /// @throws FormatError
  void require_own_data() const;

  /// Refuses what must not be read: data outside the file, more data than the file's bytes can stand for.
  /// @param memory_entry  bytes of one entry in memory
  /// @param block         as in read()
  /// @throws FormatError
  void check_readable(std::uintmax_t file_bytes, std::size_t memory_entry, const ArrayBlock& block) const;

  /// Refuses damaged chunks, which the library must not be asked to unpack.
  /// @throws FormatError
  void check_chunks(std::uintmax_t file_bytes, const ArrayBlock& block) const;

  /// Where its numbers lie, to be read without the library; nothing where only that can read them.
  [[nodiscard]] std::optional<Hdf5Places> places(std::uintmax_t file_bytes) const;

  /// Every entry, as a block.
  [[nodiscard]] ArrayBlock whole() const { return whole_block(extent_.shape); }

  [[nodiscard]] std::size_t entries(const ArrayBlock& block) const;

  /// The entries of a block, which lies inside and was found readable, converted by the library.
  /// @param values  room for all of them
  /// @throws FormatError as check_chunks(), or if the library cannot
  void read(std::uintmax_t file_bytes, hid_t memory_type, const ArrayBlock& block, void* values) const;

 private:
  [[nodiscard]] bool in_chunks() const;
  [[nodiscard]] Hdf5Chunks chunks(std::uintmax_t file_bytes) const;

  Hdf5Handle dataset_;
  Hdf5Handle type_;
  Hdf5Handle space_;
  Hdf5Handle layout_;  // the creation properties
  Hdf5Extent extent_;
};

}  // namespace headwave
