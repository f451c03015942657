#include <array>
#include <vector>

#include "../../core/errors/error.h"
#include "../../data/arrays/array_block.h"
#include "../catch.h"

using namespace headwave;

TEST_CASE("stored numbers: bytes that do not divide into numbers are refused") {
  const std::array<std::byte, 6> bytes{};
  const auto floats_of = [&](NumberType type) {
    std::vector<float> values(bytes.size() / size_of(type));
    put_floats(bytes, type, ByteOrder::little, values);
    return values;
  };
  CHECK(floats_of(NumberType::f16).size() == 3);
  for (const NumberType type : {NumberType::f32, NumberType::f64, NumberType::i32, NumberType::u64}) {
    CHECK_THROWS_WITH(floats_of(type), ContainsSubstring("found 6 bytes for"));
  }
  CHECK_THROWS_WITH(floats_of(NumberType::f32),
                    ContainsSubstring("found 6 bytes for 1 numbers of float32, expected 4"));
}
