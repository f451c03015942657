#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "../arrays/array_block.h"
#include "hdf5_places.h"

namespace headwave {

/// Reads numbers from their places in a file, which outlives it; from several threads at once.
///
/// Of plain pieces no more is read than a block holds. Packed ones are unpacked whole, and one that several blocks share is
/// kept until all of it was taken, as far as there is room: h5py's own chunks of stored states go over tens of documents,
/// each of which would unpack them anew.
class Hdf5PieceReader {
 public:
  static constexpr std::size_t usual_room = std::size_t{512} << 20U;

  /// @param room  bytes of pieces that are kept, at most
  explicit Hdf5PieceReader(const ReadableBytes& file, std::size_t room = usual_room) : file_(file), room_(room) {}

  /// Reads a block of a dataset as floats, row-major.
  /// @param places  sound for the file; they outlive this
  /// @throws ShapeError if there is no such block; FormatError if a piece does not unpack to its size, or more than 16 GiB
  ///         are asked for; IoError if the file cannot be read
  void read(const Hdf5Places& places, const ArrayBlock& block, const FloatRoom& room);

 private:
  using Bytes = std::shared_ptr<const MemoryBytes>;
  class Unpacking;
  struct Part;
  class PartWalk;

  /// A piece of which some rows along the last axis were taken, and others will be.
  struct Shared {
    std::vector<bool> taken;
    std::size_t left = 0;  // rows that were not taken
    bool has_room = false;
    std::mutex unpacking;
    Bytes bytes;
  };

  Bytes piece(Unpacking& unpacking, const Part& part);
  std::shared_ptr<Shared> shared(const Unpacking& unpacking, const Part& part);

  const ReadableBytes& file_;
  std::mutex taking_;
  std::size_t room_;  // that is left
  std::map<std::pair<const Hdf5Places*, std::size_t>, std::shared_ptr<Shared>> shared_;
};

}  // namespace headwave
