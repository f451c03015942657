#include "hdf5_places.h"

#include <algorithm>
#include <optional>
#include <span>
#include <type_traits>

#include <fmt/format.h>
#include <zlib.h>

#include "../../core/numbers/error.h"

namespace headwave {

namespace {

constexpr const char* not_its_size = "a compressed chunk does not unpack to its size: the file is damaged";
constexpr std::size_t most_unpacked = std::size_t{64} << 20U, most_axes = 32;

/// Nothing where it is more than can be counted.
std::optional<std::size_t> product(std::span<const Index> sizes, std::size_t unit) {
  for (const Index size : sizes)
    if (size < 0 || __builtin_mul_overflow(unit, static_cast<std::size_t>(size), &unit)) return {};
  return unit;
}

Index pieces_along(const Hdf5Places& places, std::size_t axis) {
  return (places.shape[axis] - 1) / places.piece_shape[axis] + 1;
}

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

/// Unpacks pieces one after another.
class Unpacking {
 public:
  Unpacking(const ReadableBytes& file, const Hdf5Places& places)
      : file_(file), shuffled_(places.shuffled), bytes_(*product(places.piece_shape, size_of(places.type))) {}

  /// A whole piece.
  std::vector<std::byte> unpacked(const Hdf5Places::Piece& piece) {
    packed_.resize(piece.bytes);
    file_.read(piece.first, packed_);
    std::vector<std::byte> plain(bytes_);
    std::vector<std::byte>& inflated = shuffled_ > 1 ? inflated_ : plain;
    inflated.resize(bytes_);
    if (inflate(packed_, inflated) != bytes_) throw FormatError(not_its_size);
    if (shuffled_ > 1) unshuffle(inflated_, shuffled_, plain.data());
    return plain;
  }

 private:
  const ReadableBytes& file_;
  std::size_t shuffled_, bytes_;
  std::vector<std::byte> packed_, inflated_;
};

/// What of one piece belongs to a block.
struct Part {
  std::size_t piece = 0;
  ArrayBlock within;      // of the piece
  Index to = 0;           // where its first entry goes
  bool together = false;  // its entries lie one after another in the block too
};

class PartWalk {
 public:
  /// @param block  inside, with entries
  PartWalk(const Hdf5Places& places, const ArrayBlock& block) : places_(places), block_(block) {
    for (std::size_t a = 0; a < block.first.size(); ++a) at_.push_back(block.first[a] / places.piece_shape[a]);
  }

  [[nodiscard]] Part part() const {
    Part part;
    const std::size_t axes = at_.size();
    part.within = whole_block(std::vector<Index>(axes, 0));
    part.together = true;
    Index step = 1;
    for (std::size_t a = axes; a-- > 0;) {
      const Index begin = at_[a] * places_.piece_shape[a], first = std::max(begin, block_.first[a]);
      part.within.first[a] = first - begin;
      part.within.count[a] = std::min(begin + places_.piece_shape[a], block_.first[a] + block_.count[a]) - first;
      part.to += (first - block_.first[a]) * step;
      step *= block_.count[a];
    }
    bool spread = false;
    Index pieces = 1, piece = 0;
    for (std::size_t a = 0; a < axes; ++a) {
      part.together = part.together && (!spread || part.within.count[a] == block_.count[a]);
      spread = spread || part.within.count[a] > 1;
    }
    for (std::size_t a = axes; a-- > 0;) {
      piece += at_[a] * pieces;
      pieces *= pieces_along(places_, a);
    }
    part.piece = static_cast<std::size_t>(piece);
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

}  // namespace

void require_at_once(std::size_t entries, std::size_t entry) {
  if (entries > most_hdf5_bytes / entry)
    throw FormatError(fmt::format("{} entries are more than the 16 GiB that are read at once", entries));
}

std::size_t inflate(std::span<const std::byte> packed, std::span<std::byte> room) {
  uLongf size = room.size();
  if (uncompress(reinterpret_cast<Bytef*>(room.data()), &size, reinterpret_cast<const Bytef*>(packed.data()),
                 packed.size()) != Z_OK)
    throw FormatError(not_its_size);
  return size;
}

bool Hdf5Places::are_sound(std::uintmax_t file_bytes) const {
  const bool known =
      type >= NumberType::f16 && type <= NumberType::boolean && (order == ByteOrder::little || order == ByteOrder::big);
  if (!known || shape.size() != piece_shape.size() || shape.size() > most_axes) return false;
  if (shuffled > 1 && shuffled != size_of(type)) return false;
  std::vector<Index> counts;
  for (std::size_t a = 0; a < shape.size(); ++a) {
    if (shape[a] <= 0 || piece_shape[a] <= 0) return false;
    counts.push_back(pieces_along(*this, a));
  }
  const std::optional<std::size_t> bytes = product(piece_shape, size_of(type));
  if (!product(shape, size_of(type)) || !bytes || product(counts, 1) != pieces.size()) return false;
  if (shuffled > 0 && *bytes > most_unpacked) return false;
  std::uintmax_t left = file_bytes;
  return std::ranges::all_of(pieces, [&](const Piece& piece) {
    if (piece.first > file_bytes || piece.bytes > file_bytes - piece.first || piece.bytes > left) return false;
    left -= piece.bytes;
    return shuffled > 0 ? *bytes / best_compression <= piece.bytes : piece.bytes == *bytes;
  });
}

void read_placed(const ReadableBytes& file, const Hdf5Places& places, const ArrayBlock& block, const FloatRoom& room) {
  require_inside(block, places.shape);
  const std::size_t entries = entries_of(block);
  require_at_once(entries, sizeof(float));
  float* const to = room(entries);
  if (entries == 0) return;
  Unpacking unpacking(file, places);
  std::vector<float> values;
  PartWalk walk(places, block);
  do {
    const Part part = walk.part();
    const Hdf5Places::Piece& piece = places.pieces[part.piece];
    PlacedNumbers numbers{places.piece_shape, places.type, places.order, false, 0};
    const FloatRoom where = part.together ? [&](std::size_t) { return to + part.to; } : room_in(values);
    if (places.shuffled > 0) {
      read_block(MemoryBytes(unpacking.unpacked(piece)), numbers, part.within, where);
    } else {
      numbers.first = piece.first;
      read_block(file, numbers, part.within, where);
    }
    const float* from = values.data();
    if (!part.together) spread(part.within.count, block.count, from, to + part.to);
  } while (walk.next());
}

}  // namespace headwave
