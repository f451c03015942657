#pragma once

#include <cstddef>
#include <string>
#include <tuple>
#include <vector>

#include "../../core/numbers/matrix.h"
#include "../files/file_bytes.h"
#include "stored_numbers.h"

namespace headwave {

/// Part of an array: entries first[a] .. first[a] + count[a] - 1 along each axis a.
struct ArrayBlock {
  std::vector<Index> first, count;
  template <class Self>
  static auto members(Self& self) {
    return std::tie(self.first, self.count);
  }
};

/// The whole of an array.
ArrayBlock whole_block(const std::vector<Index>& shape);

/// @throws ShapeError if an array of that shape has no such entries
void require_inside(const ArrayBlock& block, const std::vector<Index>& shape);

/// An array of numbers by where it lies: one after another from byte `first` on.
struct PlacedNumbers {
  std::vector<Index> shape;  ///< empty: a single number
  NumberType type = NumberType::f32;
  ByteOrder order = ByteOrder::little;
  bool fortran_order = false;  ///< the first index runs fastest; else the last one
  std::size_t first = 0;
};

/// A block of an array as floats, row-major. Of the file no more is read than the block spans: what lies one after
/// another at once, what is spread in pieces of a megabyte.
/// @throws ShapeError if there is no such block; IoError if it cannot be read
std::vector<float> floats_of_block(const ReadableBytes& bytes, const PlacedNumbers& numbers, const ArrayBlock& block);

}  // namespace headwave
