#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "../../core/numbers/matrix.h"
#include "../files/file_bytes.h"

namespace headwave {

/// How a file stores one number. f16 is IEEE half precision; bf16 is the upper half of a float32.
enum class NumberType { f16, bf16, f32, f64, i8, i16, i32, i64, u8, u16, u32, u64, boolean };

/// Bytes per stored number.
std::size_t size_of(NumberType type);

/// The name of a type in numpy: "float16", "bfloat16", "uint8", "bool".
const char* name_of(NumberType type);

/// The type called "f4" in a .npy file or "F32" in a safetensors file; no value for other types.
std::optional<NumberType> npy_type(std::string_view code);
std::optional<NumberType> number_type(std::string_view dtype);

enum class ByteOrder { little, big };

/// Converts stored numbers to floats, at any address and in either byte order. Half-precision numbers are
/// widened exactly. float64 and integers are rounded to the nearest float, so integers beyond 2^24 lose
/// digits. A boolean is 1 if its byte is not 0.
/// @param into  one float per stored number
/// @throws ShapeError if the number of bytes does not match
void put_floats(std::span<const std::byte> bytes, NumberType type, ByteOrder order, std::span<float> into);

/// A shape as messages and listings write it: "(3, 4)".
std::string shape_text(std::span<const Index> shape);

/// Part of an array: entries first[a] .. first[a] + count[a] - 1 along each axis a.
struct ArrayBlock {
  std::vector<Index> first, count;
};

/// The block that covers a whole array.
ArrayBlock whole_block(const std::vector<Index>& shape);

/// Number of entries of a block that lies inside an array.
std::size_t entries_of(const ArrayBlock& block);

/// @param called  how the message begins
/// @throws ShapeError if the block does not lie inside an array of that shape
void require_inside(const ArrayBlock& block, const std::vector<Index>& shape, const std::string& called = "");

/// Where the numbers of an array are: they are stored one after another from byte `first` on.
struct PlacedNumbers {
  std::vector<Index> shape;  ///< empty: a single number
  NumberType type = NumberType::f32;
  ByteOrder order = ByteOrder::little;
  bool fortran_order = false;  ///< the first index runs fastest; otherwise the last one
  std::size_t first = 0;
};

/// Reads a block of an array as floats, row-major. No byte before the block's first entry or after its last
/// entry is read. Contiguous entries are read at once; scattered entries are read in pieces of at most 1 MiB.
/// @throws ShapeError if the block does not lie inside the array; IoError if the block cannot be read
std::vector<float> read_block(const FileBytes& bytes, const PlacedNumbers& numbers, const ArrayBlock& block);

}  // namespace headwave
