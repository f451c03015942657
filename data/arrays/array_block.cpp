#include "array_block.h"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>

#include "../../core/numbers/error.h"
#include "safetensors_file.h"

namespace headwave {

namespace {

/// What is read at once although not all of it is wanted.
constexpr std::size_t piece_bytes = std::size_t{1} << 20U;

/// One axis of a block: how many entries, and how far apart they lie in the file and in what is made of them.
struct Stride {
  Index count = 0, from = 0, to = 0;
};

class Gathering {
 public:
  Gathering(const ReadableBytes& bytes, const PlacedNumbers& numbers, const ArrayBlock& block)
      : bytes_(bytes), numbers_(numbers) {
    // Of an array without entries the other axes may be longer than any number of entries.
    if (std::ranges::count(block.count, Index{0}) > 0) return;
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
    // Slowest in the file first: what follows an axis lies closer together than its entries.
    if (numbers.fortran_order) std::ranges::reverse(strides_);
    values_.resize(static_cast<std::size_t>(to));
    in_order_ = !numbers.fortran_order || axes < 2;
  }

  [[nodiscard]] std::vector<float> gathered() {
    if (!values_.empty()) gather(0, start_, 0);
    return std::move(values_);
  }

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
      std::vector<float> piece = floats_of(raw_, numbers_.type, numbers_.order);
      if (piece.size() == values_.size() && in_order_)
        values_.swap(piece);
      else
        place(piece.data(), axis, to);
      return;
    }
    for (Index i = 0; i < strides_[axis].count; ++i)
      gather(axis + 1, from + i * strides_[axis].from, to + i * strides_[axis].to);
  }

  void place(const float* piece, std::size_t axis, Index to) {
    if (axis == strides_.size()) {
      values_[static_cast<std::size_t>(to)] = *piece;
      return;
    }
    const Stride& stride = strides_[axis];
    if (axis + 1 == strides_.size() && stride.from == 1 && stride.to == 1) {
      std::copy_n(piece, stride.count, values_.begin() + to);
      return;
    }
    for (Index i = 0; i < stride.count; ++i) place(piece + i * stride.from, axis + 1, to + i * stride.to);
  }

  const ReadableBytes& bytes_;
  const PlacedNumbers& numbers_;
  std::vector<Stride> strides_;
  Index start_ = 0;
  std::vector<std::byte> raw_;
  std::vector<float> values_;
  bool in_order_ = false;  // entries of a piece lie as they are wanted
};

}  // namespace

ArrayBlock whole_block(const std::vector<Index>& shape) {
  return {std::vector<Index>(shape.size(), 0), shape};
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

std::vector<float> floats_of_block(const ReadableBytes& bytes, const PlacedNumbers& numbers, const ArrayBlock& block) {
  require_inside(block, numbers.shape);
  return Gathering(bytes, numbers, block).gathered();
}

}  // namespace headwave
