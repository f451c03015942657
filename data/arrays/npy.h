#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "../../core/numbers/matrix.h"

namespace headwave {

/// What the header of a NumPy .npy file says.
struct NpyInfo {
  std::vector<Index> shape;    ///< empty: a single number
  std::string descr;           ///< as written: "<f4"; of a structured array the whole list
  std::string dtype;           ///< in words: "float32", "int64", "bool", "complex64", "string", "structured", ...
  bool fortran_order = false;  ///< the first index runs fastest
  bool big_endian = false;
  std::size_t data = 0;  ///< first byte of the numbers
};

/// An array's numbers, row-major whatever their order in the file.
template <class Number>
struct NpyArray {
  std::vector<Index> shape;
  std::vector<Number> values;
};

/// The header of a .npy file, versions 1.0, 2.0 and 3.0, checked against the file's size.
///
/// The header is a Python dictionary; it is parsed as one of strings, booleans, whole numbers, tuples and lists, and
/// never evaluated.
///
/// Source: numpy.lib.format, "Format Version 1.0" to "3.0".
/// @throws IoError if the file cannot be read; FormatError if it is not a .npy file, is cut short or has bytes left
/// over, is an
///         .npz archive, or holds Python objects (a pickle, which would run code when loaded)
NpyInfo npy_info(const std::filesystem::path& path);

/// The numbers of a .npy file as floats: float16, float32, float64, integers of 8 to 64 bits or booleans, either byte
/// order.
/// @throws IoError, FormatError as npy_info, and FormatError if the array holds anything but real numbers
NpyArray<float> npy_floats(const std::filesystem::path& path);

/// Rows first_row .. first_row + rows - 1 of the first axis, as floats. Only those are read, unless the order is
/// Fortran's.
/// @returns an array of shape (rows, ...)
/// @throws IoError, FormatError as above; ShapeError if there are no such rows
NpyArray<float> npy_floats(const std::filesystem::path& path, Index first_row, Index rows);

/// The integers or booleans of a .npy file, exactly.
/// @throws IoError, FormatError as npy_info, and FormatError if the array holds anything but integers that fit in int64
NpyArray<std::int64_t> npy_integers(const std::filesystem::path& path);

}  // namespace headwave
