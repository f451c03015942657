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
  std::vector<Index> shape;    ///< empty: a single number
  std::string descr;           ///< as written: "<f4"; of a structured array the whole list, as JSON
  std::string dtype;           ///< in words: "float32", "int64", "bool", "string", "structured"; else as written
  bool fortran_order = false;  ///< the first index runs fastest
  bool big_endian = false;
  std::size_t data = 0;              ///< first byte of the numbers
  std::optional<NumberType> number;  ///< if they are real numbers
};

/// Reads the header of a .npy file, versions 1.0, 2.0 and 3.0, and checks it against the file's size.
///
/// The header is a Python dictionary of strings, booleans, whole numbers, tuples and lists. It is turned into
/// JSON and parsed, never evaluated.
///
/// Source: numpy.lib.format, "Format Version 1.0" to "3.0".
/// @throws IoError if the file cannot be read; FormatError if it is not a .npy file, is cut short or has
///         bytes left over, or holds Python objects (a pickle, which would run code when loaded)
NpyInfo npy_info(const std::filesystem::path& path);

/// The same of an array inside other bytes, as in a .npz archive.
/// @param name  its name in messages
NpyInfo npy_info(const FileBytes& bytes, const std::string& name);

/// The place of the numbers: float16, float32, float64, integers of 8 to 64 bits or booleans, either byte
/// order.
/// @throws FormatError if the array holds anything but real numbers
PlacedNumbers placed_numbers(const NpyInfo& info, const std::string& name);

/// The entries of an array of texts.
/// @throws FormatError if the array holds anything else, or more than a GB
std::vector<std::string> npy_texts(const FileBytes& bytes, const NpyInfo& info, const std::string& name);

}  // namespace headwave
