#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "../../core/fields/field.h"
#include "../hdf5/hdf5_handle.h"

namespace headwave {

// The library keeps data until an object is flushed or closed, and only then notices a full disk. So every
// object made here must be finished by finish_hdf5(), which reports it; a handle that closes by itself is of
// a file that is given up.

/// @throws IoError that names what could not be written, with the library's reason, if `done` is false
void demand_hdf5(bool done, const std::string& what);

/// Texts in the form that the library takes: UTF-8, as its readers insist, without zero bytes, which would
/// end them.
class Hdf5Texts {
 public:
  explicit Hdf5Texts(const std::vector<std::string>& texts);
  Hdf5Texts(const Hdf5Texts&) = delete;
  Hdf5Texts& operator=(const Hdf5Texts&) = delete;
  ~Hdf5Texts() = default;

  /// The buffer for a call that writes.
  [[nodiscard]] const void* data() const { return characters_.data(); }

 private:
  std::vector<std::string> texts_;
  std::vector<const char*> characters_;
};

/// Creates a file in the format of HDF5 1.8. It records the order of creation, as netCDF-4 demands, but no
/// times, so that equal content gives equal files.
/// @throws IoError if it cannot be created
Hdf5Handle new_hdf5_file(const std::filesystem::path& path);

/// @throws IoError if it cannot be created
Hdf5Handle new_hdf5_group(hid_t file, const std::string& name);

/// Creates a dataset with its values; larger ones in chunks of result_chunks(), shuffled, gzipped and with
/// checksums. The fill value of doubles is NaN.
/// @tparam Value  double, std::int64_t, std::uint8_t, or std::string, stored as Hdf5Texts
/// @param values  row-major
/// @throws IoError if it cannot be written
template <class Value>
Hdf5Handle new_hdf5_dataset(hid_t group, const std::string& name, const std::vector<Index>& shape,
                            const std::vector<Value>& values);

/// Chunk sizes of an array: whole last axes as long as a chunk stays within 1 MB, and axes before the last
/// two only within 64 kB, so that one head can be read without its neighbours. Empty for a small array, which
/// is stored in one piece.
std::vector<Index> result_chunks(const std::vector<Index>& shape, std::size_t entry_bytes);

/// The type of a growing dataset.
enum class RowType { float32, float16, id, flag, text };

/// Creates a dataset that grows along its first axis by one entry at a time, each in chunks of its own, with
/// checksums.
/// @param entry    shape of one entry
/// @param packing  zlib's level; 0: not packed
/// @throws IoError if it cannot be created
Hdf5Handle new_hdf5_rows(hid_t group, const std::string& name, const std::vector<Index>& entry, RowType type,
                         unsigned packing);

/// Appends an entry of float (also if float16 is stored), std::int32_t, std::uint8_t, or Hdf5Texts.
/// @param values  row-major
/// @throws IoError if it cannot be written
void append_hdf5_row(const Hdf5Handle& dataset, const std::string& name, const void* values);

/// Writes one attribute; numbers as float64 and int64, texts as Hdf5Texts.
/// @throws IoError if the library refuses
void write_hdf5_attribute(hid_t object, const std::string& name, const Attribute& value);

/// Writes a list as one attribute.
/// @tparam Value  std::string or std::uint8_t
/// @throws IoError if the library refuses
template <class Value>
void write_hdf5_list(hid_t object, const std::string& name, const std::vector<Value>& values);

/// Flushes a dataset, group or file to the system, and closes it.
/// @throws IoError if the disk refuses
void finish_hdf5(Hdf5Handle& object, const std::string& what);

}  // namespace headwave
