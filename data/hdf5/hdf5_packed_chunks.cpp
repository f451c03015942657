#include "hdf5_packed_chunks.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <span>
#include <type_traits>
#include <vector>

#include "../../core/numbers/error.h"

namespace headwave {

namespace {

/// Undoes a shuffle: of every entry the first bytes lie together, then the second ones.
/// @param size  of an entry; known to the compiler it is a loop of vectors
template <class Size>
void place_entries(std::span<const unsigned char> from, Size size, unsigned char* to) {
  const std::size_t entries = from.size() / size;
  for (std::size_t i = 0; i < entries; ++i)
    for (std::size_t b = 0; b < size; ++b) to[i * size + b] = from[b * entries + i];
}

void unshuffle(std::span<const unsigned char> from, std::size_t size, unsigned char* to) {
  if (size == 1)
    std::ranges::copy(from, to);
  else if (size == 2)
    place_entries(from, std::integral_constant<std::size_t, 2>(), to);
  else if (size == 4)
    place_entries(from, std::integral_constant<std::size_t, 4>(), to);
  else if (size == 8)
    place_entries(from, std::integral_constant<std::size_t, 8>(), to);
  else
    place_entries(from, size, to);
}

/// What of a chunk belongs to a block: along one axis so many entries, from one place in the chunk to one in the block.
struct Overlap {
  std::size_t count, from, to;
  std::size_t from_step, to_step;  // bytes
};

std::vector<Overlap> overlaps(const Hdf5Chunks& chunks, const Hdf5Chunks::Offset& offset, const ArrayBlock& block,
                              std::size_t entry) {
  std::vector<Overlap> axes(offset.size());
  std::size_t from_step = entry, to_step = entry;
  for (std::size_t a = axes.size(); a-- > 0;) {
    const auto first = static_cast<hsize_t>(block.first[a]), count = static_cast<hsize_t>(block.count[a]);
    const hsize_t begin = std::max(offset[a], first), end = std::min(offset[a] + chunks.shape()[a], first + count);
    axes[a] = {end - begin, begin - offset[a], begin - first, from_step, to_step};
    from_step *= chunks.shape()[a];
    to_step *= count;
  }
  return axes;
}

/// Whether all of a chunk lies in the block as it lies in the chunk, and where.
std::optional<std::size_t> lies_whole(std::span<const Overlap> axes, std::span<const hsize_t> chunk) {
  std::size_t to = 0;
  for (std::size_t a = 0; a < axes.size(); ++a) {
    if (axes[a].count != chunk[a] || (chunk[a] > 1 && axes[a].from_step != axes[a].to_step)) return {};
    to += axes[a].to * axes[a].to_step;
  }
  return to;
}

void copy(std::span<const Overlap> axes, std::size_t entry, const unsigned char* from, unsigned char* to) {
  if (axes.empty()) {
    std::memcpy(to, from, entry);
    return;
  }
  const Overlap& axis = axes.front();
  from += axis.from * axis.from_step;
  to += axis.to * axis.to_step;
  if (axes.size() == 1) {
    std::memcpy(to, from, axis.count * entry);
    return;
  }
  for (std::size_t i = 0; i < axis.count; ++i)
    copy(axes.subspan(1), entry, from + i * axis.from_step, to + i * axis.to_step);
}

}  // namespace

bool read_packed_chunks(Hdf5Chunks& chunks, hid_t type, hid_t memory_type, const ArrayBlock& block, void* values) {
  const std::size_t stored = H5Tget_size(type), entry = H5Tget_size(memory_type);
  const std::optional<std::size_t> shuffled = chunks.shuffled_bytes();
  if (!shuffled || (*shuffled != 1 && *shuffled != stored)) return false;
  const bool converted = H5Tequal(type, memory_type) <= 0;
  auto* const to = static_cast<unsigned char*>(values);
  std::vector<unsigned char> entries;
  bool all = true;
  chunks.each(block, [&](const Hdf5Chunks::Offset& offset) {
    const std::span<const unsigned char> bytes = chunks.unpacked(offset);
    all = !bytes.empty();
    if (!all) return false;
    const std::vector<Overlap> axes = overlaps(chunks, offset, block, entry);
    if (const auto place = converted ? std::nullopt : lies_whole(axes, chunks.shape())) {
      unshuffle(bytes, *shuffled, to + *place);
      return true;
    }
    const std::size_t count = bytes.size() / stored;
    entries.resize(count * std::max(stored, entry));
    unshuffle(bytes, *shuffled, entries.data());
    if (converted && H5Tconvert(type, memory_type, count, entries.data(), nullptr, H5P_DEFAULT) < 0)
      throw FormatError(hdf5_reason());
    copy(axes, entry, entries.data(), to);
    return true;
  });
  return all;
}

}  // namespace headwave
