#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace headwave {

/// Numbers that share one scale in MXFP4.
constexpr std::size_t mxfp4_block = 32;

/// Numbers of four bits in blocks that share a power of two, as floats, exactly.
///
///     x = value(code) 2^(scale - 127)                                                          (1)
///     value = 0, 1/2, 1, 3/2, 2, 3, 4, 6 for codes 0 to 7, the same with a minus for 8 to 15
///
/// A byte holds two codes, the lower four bits first. A scale of 255 is NaN, and so are its numbers.
///
/// Source: Open Compute Project 2023, OCP Microscaling Formats (MX) Specification 1.0, sections 5.3 and 6.3.
/// @param codes   16 bytes of each block, block after block
/// @param scales  one byte of each block
/// @param into    32 floats of each block
/// @throws ShapeError if the sizes do not belong together
void put_mxfp4(std::span<const std::byte> codes, std::span<const std::byte> scales, std::span<float> into);

}  // namespace headwave
