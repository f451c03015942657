#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace headwave {

/// How a file stores quantised numbers: blocks of consecutive numbers of a row, each with a scale (and often a
/// minimum) of its own. Named as ggml names them.
///
///     Q8_0, Q4_0, Q5_0    32 numbers   x = d q                                                (1)
///     Q4_1, Q5_1          32 numbers   x = d q + m                                            (2)
///     MXFP4               32 numbers   x = 2^(e - 128) v[q], v twice the values of E2M1       (3)
///     Q4_K, Q5_K         256 numbers   x = (d s_g) q - (m t_g), 8 groups g of 32              (4)
///     Q6_K               256 numbers   x = (d s_g) q, 16 groups g of 16                       (5)
///
/// d and m are float16, s_g and t_g small integers, q has 4, 5, 6 or 8 bits. Each product and sum is rounded to
/// float32, in the order written, so that every number is the one that llama.cpp and the Python package gguf
/// compute, to the bit.
///
/// Source: ggml's published layouts, https://github.com/ggml-org/ggml.
struct QuantisedType {
  std::string_view name;    ///< "Q4_K"
  std::size_t entries = 0;  ///< numbers in a block
  std::size_t bytes = 0;    ///< of a block
  void (*unpack)(const std::byte* block, float* out);
};

/// The type of a name; null: it is not read, or holds plain numbers.
const QuantisedType* quantised_type(std::string_view name);

/// "Q4_0, Q4_1, ...": the names of all types that are read.
std::string quantised_types_text();

/// Dequantises whole blocks.
/// @param into  as many floats as numbers in the blocks
/// @throws ShapeError if bytes and floats are not of equally many whole blocks
void put_floats(std::span<const std::byte> bytes, const QuantisedType& type, std::span<float> into);

}  // namespace headwave
