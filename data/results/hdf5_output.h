#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "../../core/numbers/matrix.h"
#include "../hdf5/hdf5_handle.h"

namespace headwave {

// The library keeps what it is given until an object is flushed or closed, and only then meets a disk that is full. So
// every object made here is finished by finish_hdf5(), which asks; a handle that closes by itself belongs to a file that
// is given up.

/// @throws IoError that names what could not be written and says why, unless it was done
void demand_hdf5(bool done, const std::string& what);

/// A new file of the format of HDF5 1.8, which keeps the order of creation, as netCDF-4 wants it, and no times, which
/// would make equal files differ.
/// @throws IoError if it cannot be made
Hdf5Handle new_hdf5_file(const std::filesystem::path& path);

/// @throws IoError if it cannot be made
Hdf5Handle new_hdf5_group(hid_t file, const std::string& name);

/// A new dataset with its values; larger ones in chunks of result_chunks(), packed, with checksums. Doubles are filled
/// with NaN where nothing was written.
/// @tparam Value  double, std::int64_t, std::uint8_t, or std::string, stored as Hdf5Texts
/// @param values  row-major
/// @throws IoError if it cannot be written
template <class Value>
Hdf5Handle new_hdf5_dataset(hid_t group, const std::string& name, const std::vector<Index>& shape,
                            const std::vector<Value>& values);

/// What an entry of a growing dataset is made of.
enum class RowType { float32, float16, id, flag, text };

/// A new dataset that grows along its first axis by one entry at a time, each in chunks of its own, with checksums.
/// @param entry    shape of one
/// @param packing  zlib's level; 0: not packed
/// @throws IoError if it cannot be made
Hdf5Handle new_hdf5_rows(hid_t group, const std::string& name, const std::vector<Index>& entry, RowType type,
                         unsigned packing);

/// Appends an entry: float, also where float16 is stored, std::int32_t, std::uint8_t, or Hdf5Texts.
/// @param values  row-major
/// @throws IoError if it cannot be written
void append_hdf5_row(const Hdf5Handle& dataset, const std::string& name, const void* values);

/// Hands all that the library keeps of a dataset, group or file to the system, and closes it.
/// @throws IoError if the disk refuses
void finish_hdf5(Hdf5Handle& object, const std::string& what);

}  // namespace headwave
