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

/// How a file stores one number. f16 is IEEE half precision, bf16 the upper half of a float32.
enum class NumberType { f16, bf16, f32, f64, i8, i16, i32, i64, u8, u16, u32, u64, boolean };

/// Bytes that one stored number takes.
std::size_t size_of(NumberType type);

/// numpy's name of a type: "float16", "bfloat16", "uint8", "bool".
const char* name_of(NumberType type);

/// The type that a .npy file calls "f4", or a safetensors file "F32"; nothing for types that are not read.
std::optional<NumberType> npy_type(std::string_view code);
std::optional<NumberType> number_type(std::string_view dtype);

enum class ByteOrder { little, big };

/// Stored numbers as floats, at any address and in either byte order. Halves are widened exactly; float64 and
/// integers are rounded to the nearest float (integers beyond 2^24 lose digits); a boolean is 1 if its byte
/// is not 0.
/// @param into  as many floats as numbers
/// @throws ShapeError if the bytes are not that many numbers
void put_floats(std::span<const std::byte> bytes, NumberType type, ByteOrder order, std::span<float> into);

/// "(3, 4)", as messages and listings write shapes.
std::string shape_text(std::span<const Index> shape);

/// Part of an array: entries first[a] .. first[a] + count[a] - 1 along each axis a.
struct ArrayBlock {
  std::vector<Index> first, count;
};

/// The whole of an array.
ArrayBlock whole_block(const std::vector<Index>& shape);

/// Number of entries of a block that lies inside an array. (Of an array without entries the other axes may be
/// of any length, so that their product overflows.)
std::size_t entries_of(const ArrayBlock& block);

/// @param called  what the message begins with
/// @throws ShapeError if an array of that shape has no such entries
void require_inside(const ArrayBlock& block, const std::vector<Index>& shape, const std::string& called = "");

/// An array of numbers stored one after another from byte `first` on.
struct PlacedNumbers {
  std::vector<Index> shape;  ///< empty: a single number
  NumberType type = NumberType::f32;
  ByteOrder order = ByteOrder::little;
  bool fortran_order = false;  ///< the first index runs fastest; otherwise the last one
  std::size_t first = 0;
};

/// Reads a block of an array as floats, row-major. It reads no more of the file than the block spans:
/// contiguous entries at once, and scattered entries in pieces of a megabyte.
/// @throws ShapeError if there is no such block; IoError if it cannot be read
std::vector<float> read_block(const FileBytes& bytes, const PlacedNumbers& numbers, const ArrayBlock& block);

}  // namespace headwave
