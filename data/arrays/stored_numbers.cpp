#include "stored_numbers.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

#include <Eigen/Core>
#include <fmt/format.h>

#include "../../core/errors/error.h"

namespace headwave {

static_assert(std::endian::native == std::endian::little,
              "mapped weights are read in place: little-endian machines only");

namespace {

struct Half {
  std::uint16_t bits;
  operator float() const { return static_cast<float>(Eigen::numext::bit_cast<Eigen::half>(bits)); }
};

struct BrainFloat {
  std::uint16_t bits;
  operator float() const { return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16U); }
};

struct Boolean {
  std::uint8_t bits;
  operator std::uint8_t() const { return bits != 0 ? 1 : 0; }
};

template <class Stored, class Visit>
void visit_numbers(std::span<const std::byte> bytes, ByteOrder order, Visit visit) {
  if (bytes.size() % sizeof(Stored) != 0)
    throw ShapeError(fmt::format("{} bytes do not divide into numbers of {} bytes", bytes.size(), sizeof(Stored)));
  for (std::size_t at = 0; at < bytes.size(); at += sizeof(Stored)) {
    std::array<std::byte, sizeof(Stored)> raw;
    std::memcpy(raw.data(), bytes.data() + at, sizeof(Stored));  // the file promises no alignment
    if (order == ByteOrder::big) std::reverse(raw.begin(), raw.end());
    visit(std::bit_cast<Stored>(raw));
  }
}

template <class Visit>
void visit_numbers(std::span<const std::byte> bytes, NumberType type, ByteOrder order, Visit visit) {
  switch (type) {
    case NumberType::f16:
      return visit_numbers<Half>(bytes, order, visit);
    case NumberType::bf16:
      return visit_numbers<BrainFloat>(bytes, order, visit);
    case NumberType::f32:
      return visit_numbers<float>(bytes, order, visit);
    case NumberType::f64:
      return visit_numbers<double>(bytes, order, visit);
    case NumberType::i8:
      return visit_numbers<std::int8_t>(bytes, order, visit);
    case NumberType::i16:
      return visit_numbers<std::int16_t>(bytes, order, visit);
    case NumberType::i32:
      return visit_numbers<std::int32_t>(bytes, order, visit);
    case NumberType::i64:
      return visit_numbers<std::int64_t>(bytes, order, visit);
    case NumberType::u8:
      return visit_numbers<std::uint8_t>(bytes, order, visit);
    case NumberType::u16:
      return visit_numbers<std::uint16_t>(bytes, order, visit);
    case NumberType::u32:
      return visit_numbers<std::uint32_t>(bytes, order, visit);
    case NumberType::u64:
      return visit_numbers<std::uint64_t>(bytes, order, visit);
    case NumberType::boolean:
      return visit_numbers<Boolean>(bytes, order, visit);
  }
}

bool is_real(NumberType type) {
  return type == NumberType::f16 || type == NumberType::bf16 || type == NumberType::f32 || type == NumberType::f64;
}

// Beyond the largest float C++ leaves the conversion undefined; IEEE rounds to infinity.
float rounded(double value) {
  constexpr double halfway_to_2_128 = 0x1.ffffffp127;
  if (std::abs(value) < halfway_to_2_128 || std::isnan(value)) return static_cast<float>(value);
  return std::copysign(std::numeric_limits<float>::infinity(), value < 0 ? -1.0F : 1.0F);
}

}  // namespace

std::size_t size_of(NumberType type) {
  constexpr std::array<std::size_t, 13> sizes{2, 2, 4, 8, 1, 2, 4, 8, 1, 2, 4, 8, 1};
  return sizes[static_cast<std::size_t>(type)];
}

const char* name_of(NumberType type) {
  constexpr std::array names{"float16", "bfloat16", "float32", "float64", "int8",   "int16", "int32",
                             "int64",   "uint8",    "uint16",  "uint32",  "uint64", "bool"};
  return names[static_cast<std::size_t>(type)];
}

std::vector<float> floats_of(std::span<const std::byte> bytes, NumberType type, ByteOrder order) {
  std::vector<float> values(bytes.size() / size_of(type));
  put_floats(bytes, type, order, values);
  return values;
}

void put_floats(std::span<const std::byte> bytes, NumberType type, ByteOrder order, std::span<float> into) {
  if (bytes.size() / size_of(type) != into.size())
    throw ShapeError(fmt::format("{} bytes of {}, expected {} numbers", bytes.size(), name_of(type), into.size()));
  if (are_floats(type, order) && bytes.size() % sizeof(float) == 0) {
    if (!bytes.empty()) std::memcpy(into.data(), bytes.data(), bytes.size());
    return;
  }
  std::size_t at = 0;
  visit_numbers(bytes, type, order, [&](auto number) {
    if constexpr (std::is_same_v<decltype(number), double>)
      into[at++] = rounded(number);
    else
      into[at++] = static_cast<float>(number);
  });
}

std::size_t non_finite_of(std::span<const std::byte> bytes, NumberType type, ByteOrder order) {
  if (!is_real(type)) return 0;
  std::size_t count = 0;
  visit_numbers(bytes, type, order, [&count](auto number) {
    if constexpr (std::is_same_v<decltype(number), double>)
      count += std::isfinite(number) ? 0 : 1;
    else
      count += std::isfinite(static_cast<float>(number)) ? 0 : 1;
  });
  return count;
}

}  // namespace headwave
