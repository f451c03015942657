#include "../../data/arrays/mxfp4.h"

#include <array>
#include <cmath>
#include <vector>

#include "../../core/errors/error.h"
#include "../catch.h"

using namespace headwave;

TEST_CASE("MXFP4 numbers are those of the specification, the lower four bits first") {
  std::vector<std::byte> codes;
  for (int low = 0; low < 16; ++low) codes.push_back(static_cast<std::byte>(((15 - low) << 4) | low));
  const std::array<float, 16> values{0, 0.5, 1, 1.5, 2, 3, 4, 6, 0, -0.5, -1, -1.5, -2, -3, -4, -6};
  for (const int exponent : {0, 120, 127, 130, 250}) {
    const std::array<std::byte, 1> scale{static_cast<std::byte>(exponent)};
    std::array<float, mxfp4_block> numbers{};
    put_mxfp4(codes, scale, numbers);
    for (std::size_t i = 0; i < 16; ++i) {
      CHECK(numbers[2 * i] == std::ldexp(values[i], exponent - 127));
      CHECK(numbers[2 * i + 1] == std::ldexp(values[15 - i], exponent - 127));
    }
  }
}

TEST_CASE("an MXFP4 scale of 255 is NaN, and sizes that do not belong together are refused") {
  const std::vector<std::byte> codes(32, std::byte{0x11});
  const std::array<std::byte, 2> scales{std::byte{127}, std::byte{255}};
  std::array<float, 2 * mxfp4_block> numbers{};
  put_mxfp4(codes, scales, numbers);
  CHECK(numbers[mxfp4_block - 1] == 0.5F);
  for (std::size_t i = mxfp4_block; i < numbers.size(); ++i) CHECK(std::isnan(numbers[i]));
  CHECK_THROWS_WITH(put_mxfp4({codes.data(), 31}, scales, numbers),
                    ContainsSubstring("put_mxfp4: found 31 bytes of codes and 64 floats for 2 scales"));
  CHECK_THROWS_WITH(put_mxfp4(codes, {scales.data(), 1}, numbers),
                    ContainsSubstring("put_mxfp4: found 32 bytes of codes and 64 floats for 1 scales"));
}
