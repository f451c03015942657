#include "hdf5_chunks.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <zlib.h>

#include "../../core/numbers/error.h"
#include "../files/printable.h"

namespace headwave {

namespace {

constexpr std::size_t most_chunks = 1'000'000;
constexpr std::size_t checksum_bytes = 4;

struct Filter {
  H5Z_filter_t id;
  std::string text;
};

std::vector<Filter> filters_of(hid_t layout) {
  std::vector<Filter> filters;
  const int count = H5Pget_nfilters(layout);
  for (int i = 0; i < count; ++i) {
    unsigned flags = 0;
    unsigned config = 0;
    std::array<unsigned, 16> values{};
    std::size_t value_count = values.size();
    std::array<char, 64> name{};
    const H5Z_filter_t id = H5Pget_filter2(layout, static_cast<unsigned>(i), &flags, &value_count, values.data(),
                                           name.size() - 1, name.data(), &config);
    std::string text = fmt::format("filter {} {}", id, printable(name.data(), 40));
    if (id == H5Z_FILTER_DEFLATE) text = fmt::format("gzip {}", values[0]);
    if (id == H5Z_FILTER_SHUFFLE) text = "shuffle";
    if (id == H5Z_FILTER_FLETCHER32) text = "fletcher32";
    if (id == H5Z_FILTER_SZIP) text = "szip";
    if (id == H5Z_FILTER_NBIT) text = "nbit";
    if (id == H5Z_FILTER_SCALEOFFSET) text = "scaleoffset";
    filters.push_back({id, text});
  }
  return filters;
}

class ChunkCheck {
 public:
  ChunkCheck(hid_t dataset, std::vector<Filter> filters, std::size_t chunk_bytes, std::uintmax_t file_bytes)
      : dataset_(dataset), filters_(std::move(filters)), chunk_bytes_(chunk_bytes), file_bytes_(file_bytes) {}

  void check(const std::vector<hsize_t>& offset, bool stored_plain) {
    hsize_t stored = 0;
    if (H5Dget_chunk_storage_size(dataset_, offset.data(), &stored) < 0) throw FormatError(hdf5_reason());
    if (stored == 0) return;  // never written: the library gives the fill value
    if (stored > file_bytes_)
      throw FormatError(fmt::format("a chunk of {} bytes does not fit in a file of {}", stored, file_bytes_));
    std::size_t bytes = static_cast<std::size_t>(stored);
    if (!filters_.empty() && !stored_plain) bytes = unpacked_size(offset, bytes);
    if (bytes != chunk_bytes_) refuse(bytes);
  }

 private:
  [[noreturn]] void refuse(std::uintmax_t bytes) const {
    throw FormatError(
        fmt::format("a chunk of {} bytes was expected, {} came: the file is damaged", chunk_bytes_, bytes));
  }

  std::size_t unpacked_size(const std::vector<hsize_t>& offset, std::size_t bytes) {
    packed_.resize(bytes);
    std::uint32_t skipped = 0;
    if (H5Dread_chunk(dataset_, H5P_DEFAULT, offset.data(), &skipped, packed_.data()) < 0)
      throw FormatError(hdf5_reason());
    for (std::size_t i = filters_.size(); i-- > 0;) {
      if (((skipped >> i) & 1U) != 0) continue;
      if (filters_[i].id == H5Z_FILTER_FLETCHER32) {
        if (packed_.size() < checksum_bytes) refuse(packed_.size());
        packed_.resize(packed_.size() - checksum_bytes);
      } else if (filters_[i].id == H5Z_FILTER_DEFLATE) {
        inflate_packed();
      }
    }
    return packed_.size();
  }

  void inflate_packed() {
    // Room for the checksum that may lie inside the packed part, and no more: a chunk that unpacks to more is refused
    // too.
    uLongf size = chunk_bytes_ + checksum_bytes;
    plain_.resize(size);
    if (uncompress(plain_.data(), &size, packed_.data(), packed_.size()) != Z_OK)
      throw FormatError("a compressed chunk does not unpack to its size: the file is damaged");
    plain_.resize(size);
    packed_.swap(plain_);
  }

  hid_t dataset_;
  std::vector<Filter> filters_;
  std::size_t chunk_bytes_;
  std::uintmax_t file_bytes_;
  std::vector<unsigned char> packed_;
  std::vector<unsigned char> plain_;
};

void demand_known_filters(const std::vector<Filter>& filters) {
  for (const Filter& filter : filters)
    if (filter.id != H5Z_FILTER_DEFLATE && filter.id != H5Z_FILTER_SHUFFLE && filter.id != H5Z_FILTER_FLETCHER32)
      throw FormatError(
          fmt::format("stored with {}, expected no filter but shuffle, gzip and fletcher32: repack the file with "
                      "h5repack -f GZIP=4",
                      filter.text));
}

std::size_t chunk_bytes(const std::vector<hsize_t>& chunk, std::size_t entry) {
  std::size_t bytes = entry;
  for (const hsize_t size : chunk)
    if (__builtin_mul_overflow(bytes, size, &bytes)) throw FormatError("its chunks are larger than any file");
  return bytes;
}

// Numbers of the first and one past the last chunk along each axis.
struct Range {
  hsize_t first;
  hsize_t end;
};

std::vector<Range> chunk_ranges(const std::vector<hsize_t>& chunk, const ArrayBlock& block) {
  std::vector<Range> ranges;
  std::size_t count = 1;
  for (std::size_t axis = 0; axis < chunk.size(); ++axis) {
    const auto first = static_cast<hsize_t>(block.first[axis]);
    const hsize_t end = first + static_cast<hsize_t>(block.count[axis]);
    // Of no entries there are no chunks, also where they would begin inside one.
    ranges.push_back({first / chunk[axis], first == end ? 0 : (end + chunk[axis] - 1) / chunk[axis]});
    if (ranges.back().end < ranges.back().first) ranges.back().end = ranges.back().first;
    if (__builtin_mul_overflow(count, ranges.back().end - ranges.back().first, &count) || count > most_chunks)
      throw FormatError(fmt::format("more than {} chunks are not read: repack the file with larger ones", most_chunks));
  }
  return ranges;
}

}  // namespace

std::vector<hsize_t> hdf5_chunk_shape(hid_t creation_properties) {
  std::array<hsize_t, H5S_MAX_RANK> sizes{};
  const int axes = H5Pget_chunk(creation_properties, H5S_MAX_RANK, sizes.data());
  return {sizes.begin(), sizes.begin() + std::clamp(axes, 0, H5S_MAX_RANK)};
}

std::vector<std::string> hdf5_filter_texts(hid_t creation_properties) {
  std::vector<std::string> texts;
  for (const Filter& filter : filters_of(creation_properties)) texts.push_back(filter.text);
  return texts;
}

void check_hdf5_chunks(hid_t dataset, hid_t creation_properties, std::span<const Index> shape, std::size_t entry,
                       const ArrayBlock& block, std::uintmax_t file_bytes) {
  const std::vector<hsize_t> chunk = hdf5_chunk_shape(creation_properties);
  if (chunk.size() != shape.size() || std::ranges::count(chunk, hsize_t{0}) > 0)
    throw FormatError("its chunks do not fit its shape: the file is damaged");
  std::vector<Filter> filters = filters_of(creation_properties);
  demand_known_filters(filters);
  ChunkCheck chunks(dataset, std::move(filters), chunk_bytes(chunk, entry), file_bytes);
  unsigned options = 0;
  H5Pget_chunk_opts(creation_properties, &options);

  const std::vector<Range> ranges = chunk_ranges(chunk, block);
  if (std::ranges::any_of(ranges, [](const Range& range) { return range.first >= range.end; })) return;
  std::vector<hsize_t> offset;
  for (std::size_t axis = 0; axis < chunk.size(); ++axis) offset.push_back(ranges[axis].first * chunk[axis]);
  while (true) {
    bool partial = false;
    for (std::size_t axis = 0; axis < chunk.size(); ++axis)
      partial = partial || offset[axis] + chunk[axis] > static_cast<hsize_t>(shape[axis]);
    chunks.check(offset, partial && (options & H5D_CHUNK_DONT_FILTER_PARTIAL_CHUNKS) != 0);
    std::size_t axis = chunk.size();
    while (axis-- > 0) {
      offset[axis] += chunk[axis];
      if (offset[axis] < ranges[axis].end * chunk[axis]) break;
      offset[axis] = ranges[axis].first * chunk[axis];
      if (axis == 0) return;
    }
  }
}

}  // namespace headwave
