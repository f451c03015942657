#include "../../data/hdf5/hdf5_piece_reader.h"

#include <atomic>
#include <memory>
#include <numeric>
#include <span>
#include <thread>
#include <utility>
#include <vector>

#include <zlib.h>

#include "../../core/errors/error.h"
#include "../catch.h"

using namespace headwave;

namespace {

/// Bytes in memory, and how often some were read.
class CountedBytes : public ReadableBytes {
 public:
  explicit CountedBytes(std::vector<std::byte> bytes) : bytes_(std::move(bytes)) {}
  [[nodiscard]] std::size_t size() const override { return bytes_.size(); }
  void read(std::size_t first, std::span<std::byte> into) const override {
    ++reads_;
    bytes_.read(first, into);
  }
  /// Since the last call.
  std::size_t reads() { return reads_.exchange(0); }

 private:
  MemoryBytes bytes_;
  mutable std::atomic<std::size_t> reads_ = 0;
};

/// Five documents of three tokens, four wide, in chunks of two documents and two tokens: 0, 1, ... 59.
struct Packed {
  Packed() {
    std::vector<std::byte> bytes;
    for (Index document = 0; document < 5; document += 2)
      for (Index token = 0; token < 3; token += 2) {
        std::vector<float> piece(16);
        for (Index i = 0; i < 16; ++i) piece[i] = value(document + i / 8, token + i / 4 % 2, i % 4);
        std::vector<Bytef> packed(compressBound(64));
        uLongf size = packed.size();
        REQUIRE(compress(packed.data(), &size, reinterpret_cast<const Bytef*>(piece.data()), 64) == Z_OK);
        places.pieces.push_back({bytes.size(), size});
        const auto* first = reinterpret_cast<const std::byte*>(packed.data());
        bytes.insert(bytes.end(), first, first + size);
      }
    file = std::make_unique<CountedBytes>(std::move(bytes));
    REQUIRE(places.are_sound(file->size()));
  }

  static float value(Index document, Index token, Index at) {
    return static_cast<float>((document * 3 + token) * 4 + at);
  }
  static std::vector<float> of_document(Index i) {
    std::vector<float> values(12);
    std::iota(values.begin(), values.end(), value(i, 0, 0));
    return values;
  }
  [[nodiscard]] bool reads(Hdf5PieceReader& reader, Index document) const {
    std::vector<float> values;
    reader.read(places, {{document, 0, 0}, {1, 3, 4}}, room_in(values));
    return values == of_document(document);
  }

  Hdf5Places places{{5, 3, 4}, NumberType::f32, ByteOrder::little, {2, 2, 4}, 1, {}};
  std::unique_ptr<CountedBytes> file;
};

constexpr std::size_t piece_bytes = 64;

}  // namespace

TEST_CASE("hdf5 pieces: a packed one that documents share is unpacked once, and let go when all of it was taken") {
  const Packed packed;
  Hdf5PieceReader reader(*packed.file, 2 * piece_bytes);  // never more than those of two documents
  for (Index i = 0; i < 5; ++i) CHECK(packed.reads(reader, i));
  CHECK(packed.file->reads() == 6);
  for (Index i = 5; i-- > 0;) CHECK(packed.reads(reader, i));
  CHECK(packed.file->reads() == 6);
  CHECK(packed.reads(reader, 4));  // alone in its chunks
  CHECK(packed.reads(reader, 4));
  CHECK(packed.file->reads() == 4);
}

TEST_CASE("hdf5 pieces: a document that is read again does not count twice") {
  const Packed packed;
  Hdf5PieceReader reader(*packed.file, 2 * piece_bytes);
  for (int i = 0; i < 3; ++i) CHECK(packed.reads(reader, 0));
  std::vector<float> row;
  reader.read(packed.places, {{0, 1, 0}, {1, 1, 4}}, room_in(row));
  CHECK(row == std::vector<float>{4, 5, 6, 7});
  CHECK(packed.reads(reader, 1));
  CHECK(packed.file->reads() == 2);
  for (Index i = 2; i < 5; ++i) CHECK(packed.reads(reader, i));
  CHECK(packed.file->reads() == 4);
}

TEST_CASE("hdf5 pieces: without room, and for blocks that divide rows, they are unpacked each time") {
  const Packed packed;
  Hdf5PieceReader without(*packed.file, piece_bytes - 1), half(*packed.file, piece_bytes);
  for (Index i = 0; i < 5; ++i) CHECK(packed.reads(without, i));
  CHECK(packed.file->reads() == 10);
  for (Index i = 0; i < 5; ++i) CHECK(packed.reads(half, i));
  CHECK(packed.file->reads() == 8);
  Hdf5PieceReader reader(*packed.file);
  for (Index i = 0; i < 4; ++i) {
    std::vector<float> column;
    reader.read(packed.places, {{0, 0, i}, {5, 3, 1}}, room_in(column));
    REQUIRE(column.size() == 15);
    CHECK(column[7] == Packed::value(2, 1, i));
  }
  CHECK(packed.file->reads() == 4 * 6);
  std::vector<float> all;
  reader.read(packed.places, whole_block(packed.places.shape), room_in(all));
  CHECK(all.back() == 59);
  CHECK(packed.file->reads() == 6);
}

TEST_CASE("hdf5 pieces: threads that want the same one wait for one unpacking") {
  const Packed packed;
  for (int round = 0; round < 20; ++round) {
    Hdf5PieceReader reader(*packed.file);
    std::vector<std::thread> threads;
    std::atomic<int> right = 0;
    for (Index i = 0; i < 5; ++i) threads.emplace_back([&, i] { right += packed.reads(reader, i) ? 1 : 0; });
    for (std::thread& thread : threads) thread.join();
    CHECK(right == 5);
    CHECK(packed.file->reads() == 6);
  }
}

TEST_CASE("hdf5 pieces: one that is damaged is refused each time it is wanted") {
  Packed packed;
  packed.places.pieces[1].bytes -= 5;
  Hdf5PieceReader reader(*packed.file);
  for (int i = 0; i < 2; ++i)
    CHECK_THROWS_WITH(packed.reads(reader, 0), ContainsSubstring("a compressed chunk does not unpack to its size"));
  CHECK(packed.reads(reader, 3));
}
