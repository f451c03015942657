#include "hdf5_chunks.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "../../core/errors/error.h"
#include "../files/printable.h"
#include "hdf5_patience.h"

namespace headwave {

namespace {

constexpr std::size_t most_chunks = 1'000'000, most_placed_chunks = 100'000;
constexpr std::size_t checksum_bytes = 4;

struct NamedFilter {
  H5Z_filter_t id;
  unsigned value;  // the first
  std::string text;
};

std::vector<NamedFilter> filters_of(hid_t layout) {
  std::vector<NamedFilter> filters;
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
    filters.push_back({id, values[0], text});
  }
  return filters;
}

void demand_known_filters(const std::vector<NamedFilter>& filters) {
  for (const NamedFilter& filter : filters)
    if (filter.id != H5Z_FILTER_DEFLATE && filter.id != H5Z_FILTER_SHUFFLE && filter.id != H5Z_FILTER_FLETCHER32)
      // h5repack leaves out, without an error, a dataset whose filter is not part of the library.
      throw FormatError(fmt::format(
          "stored with {}, expected no filter but shuffle, gzip and fletcher32: {}", filter.text,
          filter.id < H5Z_FILTER_RESERVED
              ? "repack the file with h5repack -f GZIP=4"
              : "write it again with h5py, new.create_dataset(name, data=old[name][()], compression='gzip'), or, in "
                "Python, give headwave.run(states=h5py.File(...))"));
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
  for (const NamedFilter& filter : filters_of(creation_properties)) texts.push_back(filter.text);
  return texts;
}

bool hdf5_is_complete(hid_t object) {
  const Hdf5Handle file(H5Iget_file_id(object), H5Fclose);
  const Hdf5Handle attribute(H5Aopen_by_name(file.id(), "/", "complete", H5P_DEFAULT, H5P_DEFAULT), H5Aclose);
  const Hdf5Handle space(H5Aget_space(attribute.id()), H5Sclose);
  std::int64_t complete = 0;
  return attribute.valid() && H5Sget_simple_extent_npoints(space.id()) == 1 &&
         H5Aread(attribute.id(), H5T_NATIVE_INT64, &complete) >= 0 && complete == 1;
}

Hdf5Chunks::Hdf5Chunks(hid_t dataset, hid_t creation_properties, std::span<const Index> shape, std::size_t entry,
                       std::uintmax_t file_bytes)
    : dataset_(dataset),
      dataset_shape_(shape),
      shape_(hdf5_chunk_shape(creation_properties)),
      bytes_(entry),
      file_bytes_(file_bytes) {
  if (shape_.size() != shape.size() || std::ranges::count(shape_, hsize_t{0}) > 0)
    throw FormatError("its chunks do not fit its shape: the file is damaged");
  const std::vector<NamedFilter> filters = filters_of(creation_properties);
  demand_known_filters(filters);
  for (const NamedFilter& filter : filters) filters_.push_back({filter.id, filter.value});
  for (const hsize_t size : shape_)
    if (__builtin_mul_overflow(bytes_, size, &bytes_)) throw FormatError("its chunks are larger than any file");
  unsigned options = 0;
  H5Pget_chunk_opts(creation_properties, &options);
  partial_are_plain_ = (options & H5D_CHUNK_DONT_FILTER_PARTIAL_CHUNKS) != 0;
}

std::optional<std::uint64_t> Hdf5Chunks::shuffled_bytes() const {
  if (filters_.empty()) return 0;
  if (filters_.back().id != H5Z_FILTER_DEFLATE) return {};
  if (filters_.size() == 1) return 1;
  if (filters_.size() == 2 && filters_.front().id == H5Z_FILTER_SHUFFLE) return filters_.front().value;
  return {};
}

bool Hdf5Chunks::place(Hdf5Places& places) const {
  const std::optional<std::uint64_t> shuffled = shuffled_bytes();
  if (!shuffled || partial_are_plain_) return false;
  places.shuffled = *shuffled;
  places.piece_shape.assign(shape_.begin(), shape_.end());
  const ArrayBlock all = whole_block({dataset_shape_.begin(), dataset_shape_.end()});
  std::size_t count = 1;
  for (const Range& range : chunk_ranges(shape_, all)) count *= range.end - range.first;
  if (count > most_placed_chunks) return false;
  bool every = true;
  each(all, [&](const Offset& offset) {
    const Stored chunk = stored(offset);
    every = chunk.address != HADDR_UNDEF && chunk.skipped == 0;
    places.pieces.push_back({chunk.address, chunk.bytes});
    return every;
  });
  return every;
}

void Hdf5Chunks::each(const ArrayBlock& block, const std::function<bool(const Offset&)>& visit) const {
  const std::vector<Range> ranges = chunk_ranges(shape_, block);
  if (std::ranges::any_of(ranges, [](const Range& range) { return range.first >= range.end; })) return;
  Offset offset;
  for (std::size_t axis = 0; axis < shape_.size(); ++axis) offset.push_back(ranges[axis].first * shape_[axis]);
  while (visit(offset)) {
    std::size_t axis = shape_.size();
    while (axis-- > 0) {
      offset[axis] += shape_[axis];
      if (offset[axis] < ranges[axis].end * shape_[axis]) break;
      offset[axis] = ranges[axis].first * shape_[axis];
      if (axis == 0) return;
    }
  }
}

void Hdf5Chunks::check(const ArrayBlock& block) {
  each(block, [this](const Offset& offset) {
    check_chunk(offset);
    return true;
  });
}

void Hdf5Chunks::check_chunk(const Offset& offset) {
  const Stored chunk = stored(offset);
  if (chunk.address == HADDR_UNDEF) {  // the library gives the fill value
    if (hdf5_is_complete(dataset_)) throw FormatError("a chunk is missing from a complete file: the file is damaged");
    return;
  }
  if (is_filtered(offset))
    unpack(offset, static_cast<std::size_t>(chunk.bytes));
  else
    require_size(static_cast<std::size_t>(chunk.bytes));
}

Hdf5Chunks::Stored Hdf5Chunks::stored(const Offset& offset) const {
  // (H5Dget_chunk_storage_size() tells a size of chunks that were never written.)
  Stored chunk;
  if (H5Dget_chunk_info_by_coord(dataset_, offset.data(), &chunk.skipped, &chunk.address, &chunk.bytes) < 0)
    throw FormatError(hdf5_reason());
  if (chunk.address != HADDR_UNDEF && chunk.bytes > file_bytes_)
    throw FormatError(fmt::format("a chunk of {} bytes does not fit in a file of {}", chunk.bytes, file_bytes_));
  return chunk;
}

bool Hdf5Chunks::is_filtered(const Offset& offset) const {
  bool partial = false;
  for (std::size_t axis = 0; axis < shape_.size(); ++axis)
    partial = partial || offset[axis] + shape_[axis] > static_cast<hsize_t>(dataset_shape_[axis]);
  return !filters_.empty() && !(partial && partial_are_plain_);
}

void Hdf5Chunks::unpack(const Offset& offset, std::size_t stored) {
  packed_.resize(stored);
  std::uint32_t skipped = 0;
  if (H5Dread_chunk(dataset_, H5P_DEFAULT, offset.data(), &skipped, packed_.data()) < 0)
    throw FormatError(hdf5_reason());
  for (std::size_t i = filters_.size(); i-- > 0;) {
    if (((skipped >> i) & 1U) != 0) continue;
    if (filters_[i].id == H5Z_FILTER_FLETCHER32) {
      if (packed_.size() < checksum_bytes) require_size(packed_.size());
      packed_.resize(packed_.size() - checksum_bytes);
    } else if (filters_[i].id == H5Z_FILTER_DEFLATE) {
      inflate_packed();
    }
  }
  require_size(packed_.size());
  Hdf5Patience::unpacked(packed_.size());
}

void Hdf5Chunks::inflate_packed() {
  // Room for the checksum that may lie inside the packed part, and no more: a chunk that unpacks to more is refused
  // too.
  plain_.resize(bytes_ + checksum_bytes);
  plain_.resize(inflate(packed_, plain_));
  packed_.swap(plain_);
}

void Hdf5Chunks::require_size(std::size_t bytes) const {
  if (bytes != bytes_)
    throw FormatError(fmt::format("a chunk of {} bytes was expected, {} came: the file is damaged", bytes_, bytes));
}

}  // namespace headwave
