#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "hdf5_handle.h"
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
  void require_inside() const;

  /// Refuses what must not be read: data outside the file, more data than the file's bytes can stand for, damaged
  /// chunks.
  /// @param memory_entry  bytes of one entry in memory
  /// @param rows          as in read()
  /// @throws FormatError
  void check_readable(std::uintmax_t file_bytes, std::size_t memory_entry, Index first_row = 0, Index rows = -1) const;

  /// How many entries there are, or where `rows` >= 0 in so many rows of the first axis.
  [[nodiscard]] std::size_t entries(Index rows) const;

  /// All entries, or where `rows` >= 0 those rows of the first axis, converted by the library.
  /// @param values  room for entries(rows)
  /// @throws FormatError if the library cannot
  void read(hid_t memory_type, Index first_row, Index rows, void* values) const;

 private:
  Hdf5Handle dataset_;
  Hdf5Handle type_;
  Hdf5Handle space_;
  Hdf5Handle layout_;  // the creation properties
  Hdf5Extent extent_;
};

}  // namespace headwave
