#include "chunk_packer.h"

#include <algorithm>
#include <cstdint>
#include <new>

#include <fmt/format.h>
#include <zlib.h>

#include "../../core/errors/error.h"
#include "result_layout.h"

namespace headwave {

namespace {

/// All first bytes of the entries, then all second ones.
void shuffle(std::span<const std::byte> plain, std::size_t entry, std::vector<std::byte>& to) {
  to.resize(plain.size());
  const std::size_t entries = plain.size() / entry;
  for (std::size_t byte = 0; byte < entry; ++byte)
    for (std::size_t i = 0; i < entries; ++i) to[byte * entries + i] = plain[i * entry + byte];
}

/// HDF5's checksum: Fletcher's of 16-bit numbers whose first byte is the high one, modulo 65535.
std::uint32_t fletcher32(std::span<const std::byte> bytes) {
  constexpr std::size_t unfolded = 360;  // numbers whose sums of sums stay below 2^32
  const auto fold = [](std::uint32_t sum) { return (sum & 0xFFFFU) + (sum >> 16U); };
  const auto at = [&](std::size_t i) { return i < bytes.size() ? std::to_integer<std::uint32_t>(bytes[i]) : 0U; };
  std::uint32_t sum = 0, sums = 0;
  for (std::size_t first = 0; first < bytes.size(); first += 2 * unfolded) {
    const std::size_t end = std::min(first + 2 * unfolded, bytes.size());
    for (std::size_t i = first; i < end; i += 2) {
      sum += at(i) << 8U | at(i + 1);
      sums += sum;
    }
    sum = fold(sum);
    sums = fold(sums);
  }
  return fold(sums) << 16U | fold(sum);
}

}  // namespace

struct ChunkPacker::Stream : z_stream {};

ChunkPacker::ChunkPacker(std::size_t entry) : entry_(entry), stream_(std::make_unique<Stream>()) {
  constexpr int window_bits = 15, memory_level = 8;  // zlib's own
  if (deflateInit2(stream_.get(), static_cast<int>(result_packing), Z_DEFLATED, window_bits, memory_level, Z_RLE) !=
      Z_OK)
    throw std::bad_alloc();
}

ChunkPacker::~ChunkPacker() {
  deflateEnd(stream_.get());
}

std::span<const std::byte> ChunkPacker::packed(std::span<const std::byte> plain) {
  if (entry_ > 1) shuffle(plain, entry_, shuffled_);
  const std::span<const std::byte> from = entry_ > 1 ? shuffled_ : plain;
  deflateReset(stream_.get());
  packed_.resize(deflateBound(stream_.get(), static_cast<uLong>(from.size())) + sizeof(std::uint32_t));
  stream_->next_in =
      const_cast<Bytef*>(reinterpret_cast<const Bytef*>(from.data()));  // NOLINT: zlib does not write there
  stream_->avail_in = static_cast<uInt>(from.size());
  stream_->next_out = reinterpret_cast<Bytef*>(packed_.data());
  stream_->avail_out = static_cast<uInt>(packed_.size());
  if (deflate(stream_.get(), Z_FINISH) != Z_STREAM_END)
    throw IoError(
        fmt::format("{} bytes cannot be packed: zlib {} did not come to an end", plain.size(), zlibVersion()));
  packed_.resize(stream_->total_out);
  const std::uint32_t checksum = fletcher32(packed_);
  for (unsigned byte = 0; byte < sizeof(checksum); ++byte)
    packed_.push_back(static_cast<std::byte>(checksum >> 8U * byte));
  return packed_;
}

}  // namespace headwave
