#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace headwave {

/// How many numbers share one scale in MXFP4.
constexpr std::size_t mxfp4_block = 32;

/// Converts MXFP4 to floats: 4-bit codes in blocks, each block with a power of two as its scale.
///
///     x = value(code) 2^(scale - 127)                                                          (1)
///     value = 0, 1/2, 1, 3/2, 2, 3, 4, 6 for codes 0 to 7, and their negatives for codes 8 to 15
///
/// A byte holds two codes, the lower four bits first. Scale 255 makes a block NaN. Results are exact, except
/// that magnitudes of 2^128 or more become infinity.
///
/// Source: Open Compute Project 2023, OCP Microscaling Formats (MX) Specification 1.0, sections 5.3 and 6.3.
/// @param codes   16 bytes per block, block after block
/// @param scales  one byte per block
/// @param into    32 floats per block
/// @throws ShapeError if the three sizes do not match
void put_mxfp4(std::span<const std::byte> codes, std::span<const std::byte> scales, std::span<float> into);

}  // namespace headwave
