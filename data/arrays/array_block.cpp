#include "array_block.h"

#include <algorithm>
#include <functional>
#include <numeric>

#include <fmt/format.h>

#include "../../core/errors/error.h"
#include "safetensors_file.h"

namespace headwave {

namespace {

/// Bytes that may be read in one piece although not all of them are wanted.
constexpr std::size_t piece_bytes = std::size_t{1} << 20U;

/// One axis of a block: its number of entries, and their distance in the file and in the result.
struct Stride {
  Index count = 0, from = 0, to = 0;
};

class Gathering {
 public:
  /// @param block  not empty
  Gathering(const ReadableBytes& bytes, const PlacedNumbers& numbers, const ArrayBlock& block, std::span<float> into)
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
    in_order_ = !numbers.fortran_order || axes < 2;
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
    const std::size_t at = numbers_.first + static_cast<std::size_t>(from) * entry;
    if (span == wanted && in_order_ && are_floats(numbers_.type, numbers_.order)) {
      bytes_.read(at,
                  std::as_writable_bytes(into_.subspan(static_cast<std::size_t>(to), static_cast<std::size_t>(span))));
      return;
    }
    if (span == wanted || static_cast<std::size_t>(span) * entry <= piece_bytes) {
      raw_.resize(static_cast<std::size_t>(span) * entry);
      bytes_.read(at, raw_);
      if (span == wanted && in_order_) {
        put_floats(raw_, numbers_.type, numbers_.order,
                   into_.subspan(static_cast<std::size_t>(to), static_cast<std::size_t>(span)));
        return;
      }
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

  const ReadableBytes& bytes_;
  const PlacedNumbers& numbers_;
  std::vector<Stride> strides_;
  Index start_ = 0;
  std::span<float> into_;
  std::vector<std::byte> raw_;
  std::vector<float> piece_;
  bool in_order_ = false;  // entries of a piece lie as they are wanted
};

}  // namespace

ArrayBlock whole_block(const std::vector<Index>& shape) {
  return {std::vector<Index>(shape.size(), 0), shape};
}

std::size_t entries_of(const ArrayBlock& block) {
  if (std::ranges::count(block.count, Index{0}) > 0) return 0;
  return static_cast<std::size_t>(
      std::accumulate(block.count.begin(), block.count.end(), Index{1}, std::multiplies<>()));
}

void require_inside(const ArrayBlock& block, const std::vector<Index>& shape) {
  bool inside = block.first.size() == shape.size() && block.count.size() == shape.size();
  for (std::size_t a = 0; inside && a < shape.size(); ++a)
    inside = block.first[a] >= 0 && block.count[a] >= 0 && block.first[a] <= shape[a] &&
             block.count[a] <= shape[a] - block.first[a];
  if (!inside)
    throw ShapeError(fmt::format("asked for {} entries from {} on, of an array of shape {}", shape_text(block.count),
                                 shape_text(block.first), shape_text(shape)));
}

void read_block(const ReadableBytes& bytes, const PlacedNumbers& numbers, const ArrayBlock& block,
                const FloatRoom& room) {
  require_inside(block, numbers.shape);
  const std::size_t entries = entries_of(block);
  float* const into = room(entries);
  if (entries > 0) Gathering(bytes, numbers, block, {into, entries}).gather();
}

std::vector<float> floats_of_block(const ReadableBytes& bytes, const PlacedNumbers& numbers, const ArrayBlock& block) {
  std::vector<float> values;
  read_block(bytes, numbers, block, room_in(values));
  return values;
}

FloatRoom room_in(std::vector<float>& values) {
  return [&values](std::size_t entries) {
    values.resize(entries);
    return values.data();
  };
}

}  // namespace headwave
