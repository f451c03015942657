#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "../../core/numbers/matrix.h"
#include "array_block.h"

namespace headwave {

/// The header of a NumPy .npy file.
struct NpyInfo {
  std::vector<Index> shape;  ///< empty: a single number
  std::string descr;  ///< type as the file writes it, such as "<f4"; for a structured array the whole list, as JSON
  std::string dtype;  ///< "float32", "int64", "bool", "string" or "structured"; other types as in descr
  bool fortran_order = false;  ///< the first index runs fastest
  bool big_endian = false;
  std::size_t data = 0;              ///< first byte of the numbers
  std::optional<NumberType> number;  ///< type of the numbers; unset: not real numbers
};

/// Reads the header of a .npy file, version 1.0, 2.0 or 3.0, and checks the file's size against it. (The size
/// of structured arrays is not checked.)
///
/// The header is a Python dictionary of strings, booleans, whole numbers, tuples and lists. It is parsed as
/// JSON, never evaluated.
///
/// Source: numpy.lib.format, "Format Version 1.0" to "3.0".
/// @throws IoError if the file cannot be read; FormatError if it is not a .npy file, is cut short, has bytes
///         after the array, or holds Python objects (a pickle, which would run code when loaded)
NpyInfo npy_info(const std::filesystem::path& path);

/// Reads the header of an array inside other bytes, as in a .npz archive.
/// @param name  what messages call the array
NpyInfo npy_info(const FileBytes& bytes, const std::string& name);

/// Where the numbers of an array are. They may be float16, float32, float64, integers of 8 to 64 bits or
/// booleans, in either byte order.
/// @throws FormatError if the array does not hold real numbers
PlacedNumbers placed_numbers(const NpyInfo& info, const std::string& name);

/// The entries of an array of strings.
/// @throws FormatError if the array is of another type, in Fortran order, or larger than 1 GiB
std::vector<std::string> npy_texts(const FileBytes& bytes, const NpyInfo& info, const std::string& name);

}  // namespace headwave
