#include "array_block.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <numeric>
#include <type_traits>

#include <Eigen/Core>
#include <fmt/format.h>
#include <fmt/ranges.h>

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

// C++ leaves the conversion of a double beyond the largest float undefined; IEEE rounds it to infinity.
float rounded(double value) {
  constexpr double halfway_to_2_128 = 0x1.ffffffp127;
  if (std::abs(value) < halfway_to_2_128 || std::isnan(value)) return static_cast<float>(value);
  return std::copysign(std::numeric_limits<float>::infinity(), value < 0 ? -1.0F : 1.0F);
}

template <class Stored>
void put_stored(std::span<const std::byte> bytes, ByteOrder order, std::span<float> into) {
  for (std::size_t i = 0; i < into.size(); ++i) {
    std::array<std::byte, sizeof(Stored)> raw;
    std::memcpy(raw.data(), bytes.data() + i * sizeof(Stored), sizeof(Stored));  // the file promises no alignment
    if (order == ByteOrder::big) std::reverse(raw.begin(), raw.end());
    if constexpr (std::is_same_v<Stored, double>)
      into[i] = rounded(std::bit_cast<double>(raw));
    else
      into[i] = static_cast<float>(std::bit_cast<Stored>(raw));
  }
}

/// A number type: its names in numpy, .npy and safetensors, its size in bytes, its conversion to floats.
struct StoredType {
  std::string_view name, npy, safetensors;
  std::size_t bytes;
  void (*put)(std::span<const std::byte> bytes, ByteOrder order, std::span<float> into);
};

template <class Stored>
constexpr StoredType stored(std::string_view name, std::string_view npy, std::string_view safetensors) {
  return {name, npy, safetensors, sizeof(Stored), put_stored<Stored>};
}

// In the order of NumberType.
constexpr std::array stored_types{
    stored<Half>("float16", "f2", "F16"),         stored<BrainFloat>("bfloat16", "", "BF16"),
    stored<float>("float32", "f4", "F32"),        stored<double>("float64", "f8", "F64"),
    stored<std::int8_t>("int8", "i1", "I8"),      stored<std::int16_t>("int16", "i2", "I16"),
    stored<std::int32_t>("int32", "i4", "I32"),   stored<std::int64_t>("int64", "i8", "I64"),
    stored<std::uint8_t>("uint8", "u1", "U8"),    stored<std::uint16_t>("uint16", "u2", "U16"),
    stored<std::uint32_t>("uint32", "u4", "U32"), stored<std::uint64_t>("uint64", "u8", "U64"),
    stored<Boolean>("bool", "b1", "BOOL")};

const StoredType& stored_type(NumberType type) {
  return stored_types[static_cast<std::size_t>(type)];
}

std::optional<NumberType> type_called(std::string_view code, std::string_view StoredType::*kind) {
  const auto* found = std::ranges::find(stored_types, code, kind);
  if (code.empty() || found == stored_types.end()) return {};
  return static_cast<NumberType>(found - stored_types.begin());
}

}  // namespace

std::size_t size_of(NumberType type) {
  return stored_type(type).bytes;
}

const char* name_of(NumberType type) {
  return stored_type(type).name.data();
}

std::optional<NumberType> npy_type(std::string_view code) {
  return type_called(code, &StoredType::npy);
}

std::optional<NumberType> number_type(std::string_view dtype) {
  return type_called(dtype, &StoredType::safetensors);
}

void put_floats(std::span<const std::byte> bytes, NumberType type, ByteOrder order, std::span<float> into) {
  if (bytes.size() != into.size() * size_of(type))
    throw ShapeError(fmt::format("found {} bytes for {} numbers of {}, expected {} bytes", bytes.size(), into.size(),
                                 name_of(type), into.size() * size_of(type)));
  if (type != NumberType::f32 || order != ByteOrder::little)
    stored_type(type).put(bytes, order, into);
  else if (!bytes.empty())
    std::memcpy(into.data(), bytes.data(), bytes.size());
}

namespace {

/// Up to this many bytes are read in one piece, even if only some of them are wanted.
constexpr std::size_t piece_bytes = std::size_t{1} << 20U;

/// One axis of a block: its number of entries, and their distance in the file and in the result.
struct Stride {
  Index count = 0, from = 0, to = 0;
};

class Gathering {
 public:
  /// @param block  not empty
  Gathering(const FileBytes& bytes, const PlacedNumbers& numbers, const ArrayBlock& block, std::span<float> into)
      : bytes_(bytes), numbers_(numbers), into_(into) {
    const std::size_t axes = numbers.shape.size();
    strides_.resize(axes);
    Index from = 1, to = 1;
    for (std::size_t a = axes; a-- > 0;) {
      strides_[a] = {block.count[a], 0, to};
      to *= block.count[a];
    }
    for (std::size_t i = 0; i < axes; ++i) {
      const std::size_t a = numbers.fortran_order ? i : axes - 1 - i;
      strides_[a].from = from;
      start_ += block.first[a] * from;
      from *= numbers.shape[a];
    }
    // The slowest axis of the file first.
    if (numbers.fortran_order) std::ranges::reverse(strides_);
  }

  void gather() { gather(0, start_, 0); }

 private:
  void gather(std::size_t axis, Index from, Index to) {
    Index span = 1, wanted = 1;
    for (std::size_t a = axis; a < strides_.size(); ++a) {
      span += (strides_[a].count - 1) * strides_[a].from;
      wanted *= strides_[a].count;
    }
    const std::size_t entry = size_of(numbers_.type);
    if (span == wanted || static_cast<std::size_t>(span) * entry <= piece_bytes) {
      raw_.resize(static_cast<std::size_t>(span) * entry);
      bytes_.read(numbers_.first + static_cast<std::size_t>(from) * entry, raw_);
      piece_.resize(static_cast<std::size_t>(span));
      put_floats(raw_, numbers_.type, numbers_.order, piece_);
      place(piece_.data(), axis, to);
      return;
    }
    for (Index i = 0; i < strides_[axis].count; ++i)
      gather(axis + 1, from + i * strides_[axis].from, to + i * strides_[axis].to);
  }

  void place(const float* piece, std::size_t axis, Index to) {
    if (axis == strides_.size()) {
      into_[static_cast<std::size_t>(to)] = *piece;
      return;
    }
    const Stride& stride = strides_[axis];
    if (axis + 1 == strides_.size() && stride.from == 1 && stride.to == 1) {
      std::copy_n(piece, stride.count, into_.begin() + to);
      return;
    }
    for (Index i = 0; i < stride.count; ++i) place(piece + i * stride.from, axis + 1, to + i * stride.to);
  }

  const FileBytes& bytes_;
  const PlacedNumbers& numbers_;
  std::vector<Stride> strides_;
  Index start_ = 0;
  std::span<float> into_;
  std::vector<std::byte> raw_;
  std::vector<float> piece_;
};

}  // namespace

std::string shape_text(std::span<const Index> shape) {
  return fmt::format("({})", fmt::join(shape, ", "));
}

ArrayBlock whole_block(const std::vector<Index>& shape) {
  return {std::vector<Index>(shape.size(), 0), shape};
}

std::size_t entries_of(const ArrayBlock& block) {
  if (std::ranges::count(block.count, Index{0}) > 0) return 0;
  return static_cast<std::size_t>(
      std::accumulate(block.count.begin(), block.count.end(), Index{1}, std::multiplies<>()));
}

void require_inside(const ArrayBlock& block, const std::vector<Index>& shape, const std::string& called) {
  bool inside = block.first.size() == shape.size() && block.count.size() == shape.size();
  for (std::size_t a = 0; inside && a < shape.size(); ++a)
    inside = block.first[a] >= 0 && block.count[a] >= 0 && block.first[a] <= shape[a] &&
             block.count[a] <= shape[a] - block.first[a];
  if (!inside)
    throw ShapeError(fmt::format("{}the requested block of shape {} at {} lies outside the array of shape {}", called,
                                 shape_text(block.count), shape_text(block.first), shape_text(shape)));
}

std::vector<float> read_block(const FileBytes& bytes, const PlacedNumbers& numbers, const ArrayBlock& block) {
  require_inside(block, numbers.shape);
  std::vector<float> values(entries_of(block));
  if (!values.empty()) Gathering(bytes, numbers, block, values).gather();
  return values;
}

}  // namespace headwave
