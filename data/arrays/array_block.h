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

/// How many entries a block has that lies inside an array: of one without entries the other axes may be longer than any
/// number of them.
std::size_t entries_of(const ArrayBlock& block);

/// Where the entries of a block go: called once, with their number, when it is known that they can be read.
/// @returns room for so many
using FloatRoom = std::function<float*(std::size_t entries)>;

/// Of a list that becomes as long; it outlives the room.
FloatRoom room_in(std::vector<float>& values);

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

/// Reads a block of an array as floats, row-major. Of the file no more is read than the block spans: what lies one after
/// another at once, floats where they are wanted, what is spread in pieces of a megabyte.
/// @throws ShapeError if there is no such block; IoError if it cannot be read
void read_block(const ReadableBytes& bytes, const PlacedNumbers& numbers, const ArrayBlock& block,
                const FloatRoom& room);

/// The same in memory of its own.
std::vector<float> floats_of_block(const ReadableBytes& bytes, const PlacedNumbers& numbers, const ArrayBlock& block);

}  // namespace headwave
