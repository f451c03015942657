#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace headwave {

/// How a file stores one number. f16 is IEEE half precision, bf16 the upper half of a float32.
enum class NumberType { f16, bf16, f32, f64, i8, i16, i32, i64, u8, u16, u32, u64, boolean };

/// Bytes that one stored number takes.
std::size_t size_of(NumberType type);

/// numpy's name of a type: "float16", "bfloat16", "uint8", "bool".
const char* name_of(NumberType type);

enum class ByteOrder { little, big };

/// Whether the stored bytes are those of float in memory.
constexpr bool are_floats(NumberType type, ByteOrder order) {
  return type == NumberType::f32 && order == ByteOrder::little;
}

/// Stored numbers as floats, at any address and in either byte order. Halves are widened exactly; float64 and
/// integers are rounded to the nearest float (integers beyond 2^24 lose digits); a boolean is 1 if its byte
/// is not 0.
/// @param bytes  a whole number of stored numbers
/// @throws ShapeError if the bytes do not divide into numbers
std::vector<float> floats_of(std::span<const std::byte> bytes, NumberType type, ByteOrder order = ByteOrder::little);

/// The same, into memory of the caller.
/// @param into  as many floats as numbers
/// @throws ShapeError if the bytes are not that many numbers
void put_floats(std::span<const std::byte> bytes, NumberType type, ByteOrder order, std::span<float> into);

/// The count of stored numbers that are NaN or infinite; 0 for integers.
/// @throws ShapeError as floats_of(), if the numbers are real
std::size_t non_finite_of(std::span<const std::byte> bytes, NumberType type, ByteOrder order = ByteOrder::little);

}  // namespace headwave
