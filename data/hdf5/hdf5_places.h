#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <tuple>
#include <vector>

#include "../arrays/array_block.h"

namespace headwave {

/// The bytes of a dataset that are read at once, at most.
constexpr std::size_t most_hdf5_bytes = std::size_t{16} << 30U;

/// @throws FormatError if entries of so many bytes are more than that
void require_at_once(std::size_t entries, std::size_t entry);

/// Undoes gzip.
/// @param room  for all that may come
/// @returns how many bytes came
/// @throws FormatError if there are more, or the packed ones are broken
std::size_t inflate(std::span<const std::byte> packed, std::span<std::byte> room);

/// Data may be this many times the bytes that stand for it. Deflate reaches 1032.
constexpr std::size_t best_compression = 2000;

/// Where a file holds the numbers of a dataset, plain or as shuffle and gzip left them: once the library has told, they are
/// read without it, by any thread, as fast as the file's bytes.
struct Hdf5Places {
  /// One after another in the file, with all filters applied or with none.
  struct Piece {
    std::uint64_t first = 0, bytes = 0;
    template <class Self>
    static auto members(Self& self) {
      return std::tie(self.first, self.bytes);
    }
  };

  std::vector<Index> shape;  ///< empty: a single number
  NumberType type = NumberType::f32;
  ByteOrder order = ByteOrder::little;
  std::vector<Index> piece_shape;  ///< that of the dataset where it lies in one piece
  std::uint64_t shuffled =
      0;  ///< 0: plain; else packed by zlib after entries of so many bytes were taken apart, 1: none
  std::vector<Piece> pieces;  ///< in the order of their places in the dataset

  template <class Self>
  static auto members(Self& self) {
    return std::tie(self.shape, self.type, self.order, self.piece_shape, self.shuffled, self.pieces);
  }

  /// Whether the pieces make up the dataset and lie within a file of that size, each in its own bytes, and none unpacks to
  /// more than 64 MiB or than it can: what a process says that may have gone wrong over a damaged file is not believed
  /// otherwise.
  [[nodiscard]] bool are_sound(std::uintmax_t file_bytes) const;

  /// Of sound ones: how many pieces there are along an axis, and the bytes of a whole one, unpacked.
  [[nodiscard]] Index pieces_along(std::size_t axis) const { return (shape[axis] - 1) / piece_shape[axis] + 1; }
  [[nodiscard]] std::size_t piece_bytes() const { return entries_of(whole_block(piece_shape)) * size_of(type); }
};

}  // namespace headwave
