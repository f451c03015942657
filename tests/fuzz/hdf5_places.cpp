#include <algorithm>
#include <bit>

#include "../../core/bytes/bytes.h"
#include "../../data/hdf5/hdf5_piece_reader.h"
#include "fuzz.h"

using namespace headwave;

namespace {

/// Two pieces of a file of 32 bytes, and what a block of their dataset begins with.
std::string places(std::uint64_t shuffled, std::uint64_t bytes) {
  ByteWriter writer;
  writer.write(Hdf5Places{{3, 2}, NumberType::f32, ByteOrder::little, {2, 2}, shuffled, {{0, bytes}, {16, bytes}}});
  writer.write(ArrayBlock{{1, 0}, {2, 1}});
  // What zlib makes of 1, 2, 3, 4, 1, 2, ..., twice.
  const std::string packed("\170\234\143\144\142\146\141\104\302\000\001\120\000\051\0\0", 16);
  return writer.taken() + packed + packed;
}

std::uint32_t bits(float value) {
  return std::bit_cast<std::uint32_t>(value);
}

}  // namespace

FUZZ_SEEDS(places(0, 16), places(4, 14), places(1, 14))

// What a child that reads a damaged file might say of it, and the file.
FUZZ(bytes) {
  constexpr std::size_t most_entries = 1 << 20U;
  refused_in_one_line([&] {
    ByteReader reader(bytes);
    const auto places = reader.read<Hdf5Places>();
    auto block = reader.read<ArrayBlock>();
    if (block.first.size() != places.shape.size() || block.count.size() != places.shape.size())
      block = whole_block(places.shape);  // other blocks no program asks for
    const auto* first = reinterpret_cast<const std::byte*>(reader.rest().data());
    const MemoryBytes file(std::vector<std::byte>(first, first + reader.rest().size()));
    if (!places.are_sound(file.size())) return;
    Hdf5PieceReader pieces(file);
    const auto read = [&] {
      std::vector<float> values;
      pieces.read(places, block, [&](std::size_t entries) {
        if (entries > most_entries) throw ShapeError("more than is tried here");
        return room_in(values)(entries);
      });
      return values;
    };
    const std::vector<float> values = read(), again = read();  // the second time of pieces that were kept
    if (!std::ranges::equal(values, again, {}, bits, bits)) std::abort();
  });
}
