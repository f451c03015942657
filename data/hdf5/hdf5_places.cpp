#include "hdf5_places.h"

#include <algorithm>
#include <optional>
#include <span>

#include <fmt/format.h>
#include <zlib.h>

#include "../../core/errors/error.h"

namespace headwave {

namespace {

constexpr std::size_t most_unpacked = std::size_t{64} << 20U, most_axes = 32;

/// Nothing where it is more than can be counted.
std::optional<std::size_t> product(std::span<const Index> sizes, std::size_t unit) {
  for (const Index size : sizes)
    if (size < 0 || __builtin_mul_overflow(unit, static_cast<std::size_t>(size), &unit)) return {};
  return unit;
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
    throw FormatError("a compressed chunk does not unpack to its size: the file is damaged");
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
    counts.push_back(pieces_along(a));
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

}  // namespace headwave
