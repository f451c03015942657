// Compiled without contracting products and sums to one rounding (CMakeLists.txt): digits are to be the
// published ones.

#include "quantised_blocks.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>

#include <Eigen/Core>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "../../core/errors/error.h"

namespace headwave {

namespace {

constexpr std::size_t small_block = 32, large_block = 256;  // numbers in a block

unsigned packed_byte(const std::byte* bytes, std::size_t at) {
  return std::to_integer<unsigned>(bytes[at]);
}

float packed_signed(const std::byte* bytes, std::size_t at) {
  return static_cast<float>(static_cast<std::int8_t>(packed_byte(bytes, at)));
}

float packed_half(const std::byte* bytes) {
  std::uint16_t bits = 0;
  std::memcpy(&bits, bytes, sizeof bits);
  return static_cast<float>(std::bit_cast<Eigen::half>(bits));
}

/// 4 bits of number i of a block of 32: the first 16 numbers are low halves of bytes, the others high halves.
unsigned nibble(const std::byte* packed, std::size_t i) {
  return packed_byte(packed, i % 16) >> (i < 16 ? 0U : 4U) & 0xFU;
}

/// The same with a fifth bit from four bytes of bits.
unsigned five_bits(const std::byte* fifth, const std::byte* packed, std::size_t i) {
  return nibble(packed, i) | (packed_byte(fifth, i / 8) >> (i % 8) & 1U) << 4U;
}

void unpack_q8_0(const std::byte* block, float* out) {
  const float d = packed_half(block);
  for (std::size_t i = 0; i < small_block; ++i) out[i] = d * packed_signed(block + 2, i);
}

void unpack_q4_0(const std::byte* block, float* out) {
  const float d = packed_half(block);
  for (std::size_t i = 0; i < small_block; ++i) out[i] = d * (static_cast<float>(nibble(block + 2, i)) - 8.0F);
}

void unpack_q4_1(const std::byte* block, float* out) {
  const float d = packed_half(block), m = packed_half(block + 2);
  for (std::size_t i = 0; i < small_block; ++i) out[i] = d * static_cast<float>(nibble(block + 4, i)) + m;
}

void unpack_q5_0(const std::byte* block, float* out) {
  const float d = packed_half(block);
  for (std::size_t i = 0; i < small_block; ++i)
    out[i] = d * (static_cast<float>(five_bits(block + 2, block + 6, i)) - 16.0F);
}

void unpack_q5_1(const std::byte* block, float* out) {
  const float d = packed_half(block), m = packed_half(block + 2);
  for (std::size_t i = 0; i < small_block; ++i) out[i] = d * static_cast<float>(five_bits(block + 4, block + 8, i)) + m;
}

/// 2^(e - 128): float32 has it as a subnormal number where e is 0 or 1.
float half_power_of_two(unsigned e) {
  return std::bit_cast<float>(e < 2 ? std::uint32_t{0x00200000} << e : (std::uint32_t{e} - 1) << 23U);
}

void unpack_mxfp4(const std::byte* block, float* out) {
  constexpr std::array<float, 16> values{0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12};
  const float d = half_power_of_two(packed_byte(block, 0));
  for (std::size_t i = 0; i < small_block; ++i) out[i] = d * values[nibble(block + 1, i)];
}

/// Scale and minimum of group g of a Q4_K or Q5_K block, 6 bits each in 12 bytes: those of groups 0 to 3 are
/// the low bits of a byte each; of groups 4 to 7 the low four bits share a byte, and the high two are in bytes
/// of the groups before.
struct GroupScale {
  float scale, minimum;
};
GroupScale group_scale(const std::byte* packed, std::size_t g) {
  const auto of = [&](std::size_t low, unsigned shift) {
    const unsigned bits = g < 4 ? packed_byte(packed, low) & 0x3FU
                                : (packed_byte(packed, g + 4) >> shift & 0xFU) | (packed_byte(packed, low - 4) >> 6U)
                                                                                     << 4U;
    return static_cast<float>(bits);
  };
  return {of(g, 0), of(g + 4, 4)};
}

/// @param fifth  32 bytes, of which bit g of byte i belongs to number i of group g; null: numbers have four bits
void unpack_groups(const std::byte* block, const std::byte* fifth, const std::byte* packed, float* out) {
  const float d = packed_half(block), m = packed_half(block + 2);
  for (std::size_t g = 0; g < 8; ++g) {
    const GroupScale scale = group_scale(block + 4, g);
    const float step = d * scale.scale, minimum = m * scale.minimum;
    for (std::size_t i = 0; i < 32; ++i) {
      unsigned q = packed_byte(packed, g / 2 * 32 + i) >> (g % 2 == 0 ? 0U : 4U) & 0xFU;
      if (fifth != nullptr) q |= (packed_byte(fifth, i) >> g & 1U) << 4U;
      out[32 * g + i] = step * static_cast<float>(q) - minimum;
    }
  }
}

void unpack_q4_k(const std::byte* block, float* out) {
  unpack_groups(block, nullptr, block + 16, out);
}

void unpack_q5_k(const std::byte* block, float* out) {
  unpack_groups(block, block + 16, block + 48, out);
}

/// Each half of a block: 64 bytes of low bits for four runs of 32 numbers, 32 bytes of high bits.
void unpack_q6_k(const std::byte* block, float* out) {
  const std::byte *low = block, *high = block + 128, *scales = block + 192;
  const float d = packed_half(block + 208);
  for (std::size_t g = 0; g < 16; ++g) {  // 16 numbers, of which two groups are a run
    const std::size_t half = g / 8, run = g % 8 / 2, first = g % 2 * 16;
    const std::byte *fours = low + half * 64 + run % 2 * 32 + first, *twos = high + half * 32 + first;
    const float step = d * packed_signed(scales, g);
    for (std::size_t i = 0; i < 16; ++i) {
      const unsigned q =
          (packed_byte(fours, i) >> (run < 2 ? 0U : 4U) & 0xFU) | (packed_byte(twos, i) >> (2 * run) & 3U) << 4U;
      out[16 * g + i] = step * (static_cast<float>(q) - 32.0F);
    }
  }
}

constexpr std::array<QuantisedType, 9> quantised_types{{{"Q4_0", small_block, 18, unpack_q4_0},
                                                        {"Q4_1", small_block, 20, unpack_q4_1},
                                                        {"Q5_0", small_block, 22, unpack_q5_0},
                                                        {"Q5_1", small_block, 24, unpack_q5_1},
                                                        {"Q8_0", small_block, 34, unpack_q8_0},
                                                        {"Q4_K", large_block, 144, unpack_q4_k},
                                                        {"Q5_K", large_block, 176, unpack_q5_k},
                                                        {"Q6_K", large_block, 210, unpack_q6_k},
                                                        {"MXFP4", small_block, 17, unpack_mxfp4}}};

}  // namespace

const QuantisedType* quantised_type(std::string_view name) {
  const auto* found = std::ranges::find(quantised_types, name, &QuantisedType::name);
  return found == quantised_types.end() ? nullptr : found;
}

std::string quantised_types_text() {
  std::string names;
  for (const QuantisedType& type : quantised_types) names += (names.empty() ? "" : ", ") + std::string(type.name);
  return names;
}

void put_floats(std::span<const std::byte> bytes, const QuantisedType& type, std::span<float> into) {
  const std::size_t blocks = bytes.size() / type.bytes;
  if (bytes.size() % type.bytes != 0 || into.size() != blocks * type.entries)
    throw ShapeError(
        fmt::format("{} bytes of {}, expected {} numbers in whole blocks", bytes.size(), type.name, into.size()));
  for (std::size_t block = 0; block < blocks; ++block)
    type.unpack(bytes.data() + block * type.bytes, into.data() + block * type.entries);
}

}  // namespace headwave
