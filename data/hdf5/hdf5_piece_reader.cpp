#include "hdf5_piece_reader.h"

#include <algorithm>
#include <span>
#include <type_traits>

#include "../../core/errors/error.h"

namespace headwave {

namespace {

/// Undoes a shuffle: of every entry the first bytes lie together, then the second ones.
/// @param size  of an entry; known to the compiler it is a loop of vectors
template <class Size>
void place_entries(std::span<const std::byte> from, Size size, std::byte* to) {
  const std::size_t entries = from.size() / size;
  for (std::size_t i = 0; i < entries; ++i)
    for (std::size_t b = 0; b < size; ++b) to[i * size + b] = from[b * entries + i];
}

void unshuffle(std::span<const std::byte> from, std::size_t size, std::byte* to) {
  if (size == 2)
    place_entries(from, std::integral_constant<std::size_t, 2>(), to);
  else if (size == 4)
    place_entries(from, std::integral_constant<std::size_t, 4>(), to);
  else
    place_entries(from, size, to);
}

/// Entries of a part to their places in a block.
void spread(std::span<const Index> part, std::span<const Index> block, const float*& from, float* to) {
  if (part.size() == 1) {
    std::copy_n(from, part[0], to);
    from += part[0];
    return;
  }
  Index step = 1;
  for (const Index count : block.subspan(1)) step *= count;
  for (Index i = 0; i < part[0]; ++i) spread(part.subspan(1), block.subspan(1), from, to + i * step);
}

/// Notes rows along the last axis.
/// @param row  where the first entry lies, counted in rows
/// @returns how many were not noted before
std::size_t take_rows(std::vector<bool>& taken, const ArrayBlock& rows, const std::vector<Index>& extent,
                      std::size_t axis = 0, Index row = 0) {
  if (axis + 1 == extent.size()) {
    const bool is_new = !taken[static_cast<std::size_t>(row)];
    taken[static_cast<std::size_t>(row)] = true;
    return is_new ? 1 : 0;
  }
  std::size_t count = 0;
  for (Index i = rows.first[axis]; i < rows.first[axis] + rows.count[axis]; ++i)
    count += take_rows(taken, rows, extent, axis + 1, row * extent[axis] + i);
  return count;
}

}  // namespace

/// What of one piece belongs to a block.
struct Hdf5PieceReader::Part {
  std::size_t piece = 0;
  std::vector<Index> extent;  // of the piece, as far as it lies in the dataset
  ArrayBlock within;          // of the piece
  Index to = 0;               // where its first entry goes
  bool together = false;      // its entries lie one after another in the block too
};

class Hdf5PieceReader::PartWalk {
 public:
  /// @param block  inside, with entries
  PartWalk(const Hdf5Places& places, const ArrayBlock& block) : places_(places), block_(block) {
    for (std::size_t a = 0; a < block.first.size(); ++a) at_.push_back(block.first[a] / places.piece_shape[a]);
  }

  [[nodiscard]] Part part() const {
    Part part;
    const std::size_t axes = at_.size();
    part.extent.assign(axes, 0);
    part.within = whole_block(part.extent);
    part.together = true;
    Index step = 1, pieces = 1, piece = 0;
    for (std::size_t a = axes; a-- > 0;) {
      const Index begin = at_[a] * places_.piece_shape[a], first = std::max(begin, block_.first[a]);
      const Index end = std::min(begin + places_.piece_shape[a], places_.shape[a]);
      part.extent[a] = end - begin;
      part.within.first[a] = first - begin;
      part.within.count[a] = std::min(end, block_.first[a] + block_.count[a]) - first;
      part.to += (first - block_.first[a]) * step;
      step *= block_.count[a];
      piece += at_[a] * pieces;
      pieces *= places_.pieces_along(a);
    }
    part.piece = static_cast<std::size_t>(piece);
    bool spread = false;
    for (std::size_t a = 0; a < axes; ++a) {
      part.together = part.together && (!spread || part.within.count[a] == block_.count[a]);
      spread = spread || part.within.count[a] > 1;
    }
    return part;
  }

  /// @returns whether there is another
  bool next() {
    for (std::size_t a = at_.size(); a-- > 0;) {
      if (++at_[a] * places_.piece_shape[a] < block_.first[a] + block_.count[a]) return true;
      at_[a] = block_.first[a] / places_.piece_shape[a];
    }
    return false;
  }

 private:
  const Hdf5Places& places_;
  const ArrayBlock& block_;
  std::vector<Index> at_;  // which piece along each axis
};

/// Unpacks pieces of a dataset one after another.
class Hdf5PieceReader::Unpacking {
 public:
  Unpacking(const ReadableBytes& file, const Hdf5Places& places)
      : file_(file), places_(places), bytes_(places.piece_bytes()) {}

  [[nodiscard]] const Hdf5Places& places() const { return places_; }
  [[nodiscard]] std::size_t bytes() const { return bytes_; }  ///< of a piece

  Bytes unpacked(std::size_t number) {
    const Hdf5Places::Piece& piece = places_.pieces[number];
    const std::size_t shuffled = places_.shuffled;
    packed_.resize(piece.bytes);
    file_.read(piece.first, packed_);
    std::vector<std::byte> plain(bytes_);
    std::vector<std::byte>& inflated = shuffled > 1 ? inflated_ : plain;
    inflated.resize(bytes_);
    if (inflate(packed_, inflated) != bytes_)
      throw FormatError("a compressed chunk does not unpack to its size: the file is damaged");
    if (shuffled > 1) unshuffle(inflated_, shuffled, plain.data());
    return std::make_shared<const MemoryBytes>(std::move(plain));
  }

 private:
  const ReadableBytes& file_;
  const Hdf5Places& places_;
  std::size_t bytes_;
  std::vector<std::byte> packed_, inflated_;
};

void Hdf5PieceReader::read(const Hdf5Places& places, const ArrayBlock& block, const FloatRoom& room) {
  require_inside(block, places.shape);
  const std::size_t entries = entries_of(block);
  require_at_once(entries, sizeof(float));
  float* const to = room(entries);
  if (entries == 0) return;
  Unpacking unpacking(file_, places);
  std::vector<float> values;
  PartWalk walk(places, block);
  do {
    const Part part = walk.part();
    PlacedNumbers numbers{places.piece_shape, places.type, places.order, false, 0};
    const FloatRoom where = part.together ? [&](std::size_t) { return to + part.to; } : room_in(values);
    if (places.shuffled > 0) {
      read_block(*piece(unpacking, part), numbers, part.within, where);
    } else {
      numbers.first = places.pieces[part.piece].first;
      read_block(file_, numbers, part.within, where);
    }
    const float* from = values.data();
    if (!part.together) spread(part.within.count, block.count, from, to + part.to);
  } while (walk.next());
}

Hdf5PieceReader::Bytes Hdf5PieceReader::piece(Unpacking& unpacking, const Part& part) {
  // (Blocks that divide rows would divide them all, and take the whole dataset to read a little.)
  const bool is_whole = part.within.count == part.extent;
  if (is_whole || part.within.count.back() != part.extent.back()) return unpacking.unpacked(part.piece);
  const std::shared_ptr<Shared> kept = shared(unpacking, part);
  if (!kept) return unpacking.unpacked(part.piece);
  const std::lock_guard lock(kept->unpacking);
  if (!kept->bytes) kept->bytes = unpacking.unpacked(part.piece);
  return kept->bytes;
}

std::shared_ptr<Hdf5PieceReader::Shared> Hdf5PieceReader::shared(const Unpacking& unpacking, const Part& part) {
  const std::lock_guard lock(taking_);
  const auto at = shared_.try_emplace({&unpacking.places(), part.piece}).first;
  if (!at->second) {
    at->second = std::make_shared<Shared>();
    at->second->left = entries_of({part.within.first, part.extent}) / static_cast<std::size_t>(part.extent.back());
    at->second->taken.resize(at->second->left);
  }
  const std::shared_ptr<Shared> piece = at->second;
  piece->left -= take_rows(piece->taken, part.within, part.extent);
  const bool is_last = piece->left == 0;
  if (!piece->has_room && !is_last && unpacking.bytes() <= room_) {
    room_ -= unpacking.bytes();
    piece->has_room = true;
  }
  const bool has_room = piece->has_room;
  if (is_last) {
    if (has_room) room_ += unpacking.bytes();
    shared_.erase(at);
  }
  return has_room ? piece : nullptr;
}

}  // namespace headwave
