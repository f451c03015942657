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

/// Creates a file in the format of HDF5 1.8. It records the order of creation, as netCDF-4 demands, but no
/// times, so that equal content gives equal files.
/// @throws IoError if it cannot be created
Hdf5Handle new_hdf5_file(const std::filesystem::path& path);

/// @throws IoError if it cannot be created
Hdf5Handle new_hdf5_group(hid_t file, const std::string& name);

/// Creates a dataset with its values; larger ones in chunks of result_chunks(), shuffled, gzipped and with
/// checksums. The fill value of doubles is NaN.
/// @tparam Value  double, std::int64_t, std::uint8_t, or std::string, stored as UTF-8 without zero bytes
/// @param values  row-major
/// @throws IoError if it cannot be written
template <class Value>
Hdf5Handle new_hdf5_dataset(hid_t group, const std::string& name, const std::vector<Index>& shape,
                            const std::vector<Value>& values);

/// Chunk sizes of an array: whole last axes as long as a chunk stays within 1 MB, and axes before the last
/// two only within 64 kB, so that one head can be read without its neighbours. Empty for a small array, which
/// is stored in one piece.
std::vector<Index> result_chunks(const std::vector<Index>& shape, std::size_t entry_bytes);

/// Writes one attribute; numbers as float64 and int64, texts as UTF-8 without zero bytes.
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
