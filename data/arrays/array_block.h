#pragma once

#include <cstddef>
#include <functional>
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

/// Number of entries of a block that lies inside an array. (Of an array without entries the other axes may be
/// of any length, so that their product overflows.)
std::size_t entries_of(const ArrayBlock& block);

/// Gives memory for the entries of a block: called once, with their number, when it is known that they can be
/// read.
using FloatRoom = std::function<float*(std::size_t entries)>;

/// Memory in a list, which is resized; the list outlives the room.
FloatRoom room_in(std::vector<float>& values);

/// @throws ShapeError if an array of that shape has no such entries
void require_inside(const ArrayBlock& block, const std::vector<Index>& shape);

/// An array of numbers stored one after another from byte `first` on.
struct PlacedNumbers {
  std::vector<Index> shape;  ///< empty: a single number
  NumberType type = NumberType::f32;
  ByteOrder order = ByteOrder::little;
  bool fortran_order = false;  ///< the first index runs fastest; otherwise the last one
  std::size_t first = 0;
};

/// Reads a block of an array as floats, row-major. It reads no more of the file than the block spans:
/// contiguous entries at once, and scattered entries in pieces of a megabyte.
/// @throws ShapeError if there is no such block; IoError if it cannot be read
void read_block(const ReadableBytes& bytes, const PlacedNumbers& numbers, const ArrayBlock& block,
                const FloatRoom& room);

/// The same, into a new list.
std::vector<float> floats_of_block(const ReadableBytes& bytes, const PlacedNumbers& numbers, const ArrayBlock& block);

}  // namespace headwave
