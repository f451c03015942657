#include "hdf5_dataset.h"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <zlib.h>

#include "../../core/errors/error.h"
#include "../files/printable.h"

namespace headwave {

namespace {

/// The bytes of a dataset that are read at once, at most.
constexpr std::size_t most_hdf5_bytes = std::size_t{16} << 30U;
/// Up to this size a dataset may be larger than its stored bytes can explain.
constexpr std::size_t harmless_bytes = std::size_t{64} << 20U;
/// Data may be this many times its stored bytes. Deflate reaches 1032.
constexpr std::size_t best_compression = 2000;
constexpr std::size_t most_chunks = 1'000'000, checksum_bytes = 4;

herr_t refuse_other_file(const char*, const char*, const char*, const char*, unsigned*, hid_t, void*) {
  return -1;
}

bool is_plausible(std::size_t bytes, std::uintmax_t stored) {
  return bytes <= harmless_bytes || bytes / best_compression <= stored;
}

/// The filters of a dataset in the order they were applied.
std::vector<Hdf5Filter> filters_of(hid_t layout) {
  std::vector<Hdf5Filter> filters;
  const int count = H5Pget_nfilters(layout);
  for (int i = 0; i < count; ++i) {
    unsigned flags = 0, config = 0;
    std::array<unsigned, 16> values{};
    std::size_t value_count = values.size();
    std::array<char, 64> name{};
    const H5Z_filter_t id = H5Pget_filter2(layout, static_cast<unsigned>(i), &flags, &value_count, values.data(),
                                           name.size() - 1, name.data(), &config);
    std::string text = fmt::format("filter {} {}", id, printable(name.data(), 40));
    if (id == H5Z_FILTER_DEFLATE) text = fmt::format("gzip {}", values[0]);
    if (id == H5Z_FILTER_SHUFFLE) text = "shuffle";
    if (id == H5Z_FILTER_FLETCHER32) text = "fletcher32";
    filters.push_back({id, text});
  }
  return filters;
}

void require_known(const std::vector<Hdf5Filter>& filters) {
  for (const Hdf5Filter& filter : filters)
    if (filter.id != H5Z_FILTER_DEFLATE && filter.id != H5Z_FILTER_SHUFFLE && filter.id != H5Z_FILTER_FLETCHER32)
      // h5repack omits, without an error, a dataset whose filter is not part of the library.
      throw FormatError(fmt::format(
          "stored with {}, expected no filter but shuffle, gzip and fletcher32: {}", filter.text,
          filter.id < H5Z_FILTER_RESERVED
              ? "repack the file with h5repack -f GZIP=4"
              : "write it again with h5py, new.create_dataset(name, data=old[name][()], compression='gzip')"));
}

/// Bytes of one stored entry; of a text of variable length those of its length and its place in the file.
std::size_t stored_entry(hid_t dataset, hid_t type) {
  if (H5Tis_variable_str(type) <= 0) return H5Tget_size(type);
  const Hdf5Handle file(H5Iget_file_id(dataset), H5Fclose);
  const Hdf5Handle creation(H5Fget_create_plist(file.id()), H5Pclose);
  std::size_t address = 8, length = 8;
  H5Pget_sizes(creation.id(), &address, &length);
  return 4 + address + 4;
}

/// Numbers of the chunks along one axis that hold a part of a block.
struct ChunkRange {
  hsize_t first, end;
};

/// Empty if the block has no entries.
std::vector<ChunkRange> chunk_ranges(const std::vector<hsize_t>& chunk, const ArrayBlock& block) {
  std::vector<ChunkRange> ranges;
  std::size_t count = 1;
  for (std::size_t axis = 0; axis < chunk.size(); ++axis) {
    if (block.count[axis] == 0) return {};
    const auto first = static_cast<hsize_t>(block.first[axis]), entries = static_cast<hsize_t>(block.count[axis]);
    ranges.push_back({first / chunk[axis], (first + entries - 1) / chunk[axis] + 1});
    if (__builtin_mul_overflow(count, ranges.back().end - ranges.back().first, &count) || count > most_chunks)
      throw FormatError(fmt::format("more than {} chunks are not read: repack the file with larger ones", most_chunks));
  }
  return ranges;
}

}  // namespace

Hdf5Handle hdf5_object(hid_t file, const std::string& path) {
  const Hdf5Handle access(H5Pcreate(H5P_LINK_ACCESS), H5Pclose);
  H5Pset_elink_cb(access.id(), refuse_other_file, nullptr);
  Hdf5Handle object(H5Oopen(file, path.c_str(), access.id()), H5Oclose);
  if (!object.valid()) fail_hdf5_read(fmt::format("'{}' cannot be opened", printable(path)));
  return object;
}

Hdf5Dataset::Hdf5Dataset(Hdf5Handle object) : dataset_(std::move(object)) {
  if (H5Iget_type(dataset_.id()) != H5I_DATASET) throw FormatError("expected a dataset, found a group or a type");
  type_ = Hdf5Handle(H5Dget_type(dataset_.id()), H5Tclose);
  layout_ = Hdf5Handle(H5Dget_create_plist(dataset_.id()), H5Pclose);
  // To tell its extent the library would open what a virtual dataset is made of, be it a pipe.
  if (H5Pget_layout(layout_.id()) == H5D_VIRTUAL) return;
  space_ = Hdf5Handle(H5Dget_space(dataset_.id()), H5Sclose);
  if (!type_.valid() || !space_.valid() || !layout_.valid()) fail_hdf5_read();
  // A damaged type may claim to be of any size.
  if (hdf5_is_number(type_.id()) && H5Tget_size(type_.id()) > 16)
    throw FormatError(fmt::format("numbers of {} bytes: the file is damaged", H5Tget_size(type_.id())));
  extent_ = hdf5_extent(space_.id());
  if (H5Pget_layout(layout_.id()) != H5D_CHUNKED) return;
  std::array<hsize_t, H5S_MAX_RANK> sizes{};
  const int axes = H5Pget_chunk(layout_.id(), H5S_MAX_RANK, sizes.data());
  chunk_.assign(sizes.begin(), sizes.begin() + std::clamp(axes, 0, H5S_MAX_RANK));
  filters_ = filters_of(layout_.id());
}

bool Hdf5Dataset::has_chunks() const {
  return H5Pget_layout(layout_.id()) == H5D_CHUNKED && extent_.entries > 0;
}

std::string Hdf5Dataset::storage_text() const {
  const H5D_layout_t kind = H5Pget_layout(layout_.id());
  if (kind == H5D_VIRTUAL) return "virtual, made of other datasets";
  if (!extent_.scalar && extent_.shape.empty()) return "no entries";
  if (H5Pget_external_count(layout_.id()) > 0) return "in other files";
  if (kind == H5D_COMPACT) return "compact";
  if (kind == H5D_CONTIGUOUS) return "contiguous";
  if (kind != H5D_CHUNKED) return "unknown layout";
  std::string text = fmt::format("chunks ({})", fmt::join(chunk_, ", "));
  for (const Hdf5Filter& filter : filters_) text += ", " + filter.text;
  return text;
}

void Hdf5Dataset::require_own_data() const {
  if (H5Pget_layout(layout_.id()) == H5D_VIRTUAL || H5Pget_external_count(layout_.id()) > 0)
    throw FormatError("its numbers lie in other files, which are not followed: copy them into one file");
}

void Hdf5Dataset::check_readable(std::uintmax_t file_bytes, std::size_t memory_entry, const ArrayBlock& block) const {
  require_own_data();
  const H5D_layout_t kind = H5Pget_layout(layout_.id());
  const std::size_t stored_size = H5Tget_size(type_.id());
  const std::size_t entries = block.count == extent_.shape ? extent_.entries : entries_of(block);
  if (entries > most_hdf5_bytes / std::max(stored_size, memory_entry))
    throw FormatError(fmt::format("{} entries are more than the 16 GiB that are read at once", entries));
  std::size_t bytes = 0;
  if (__builtin_mul_overflow(extent_.entries, stored_size, &bytes))
    throw FormatError(fmt::format("{} entries: the file is damaged", extent_.entries));
  const std::uintmax_t stored = std::min<std::uintmax_t>(H5Dget_storage_size(dataset_.id()), file_bytes);
  // What is not chunked lies in the file byte for byte, or was never written; the library does not check that
  // it is all there.
  const bool never_written = kind == H5D_CONTIGUOUS && bytes > stored && stored == 0 && bytes <= harmless_bytes;
  if (kind == H5D_CHUNKED ? !is_plausible(bytes, stored) : bytes > stored && !never_written)
    throw FormatError(fmt::format(
        "{} bytes are promised, {} are stored: the file is damaged, or the data was never written", bytes, stored));
  if (!has_chunks()) return;
  std::size_t chunk_bytes = stored_size;
  for (const hsize_t size : chunk_)
    if (__builtin_mul_overflow(chunk_bytes, size, &chunk_bytes)) chunk_bytes = most_hdf5_bytes;
  if (!is_plausible(chunk_bytes, file_bytes))
    throw FormatError(fmt::format("its chunks are too large for a file of {} bytes: the file is damaged", file_bytes));
}

std::size_t Hdf5Dataset::chunk_bytes() const {
  if (chunk_.size() != extent_.shape.size() || std::ranges::count(chunk_, hsize_t{0}) > 0)
    throw FormatError("its chunks do not fit its shape: the file is damaged");
  std::size_t bytes = stored_entry(id(), type());
  for (const hsize_t size : chunk_)
    if (__builtin_mul_overflow(bytes, size, &bytes)) throw FormatError("its chunks are larger than any file");
  return bytes;
}

void Hdf5Dataset::each_chunk(const ArrayBlock& block, const std::function<void(const Chunk&)>& see) const {
  const std::vector<ChunkRange> ranges = chunk_ranges(chunk_, block);
  if (ranges.empty()) return;
  std::vector<hsize_t> at;
  for (const ChunkRange& range : ranges) at.push_back(range.first);
  for (;;) {
    Chunk chunk{0, {}};
    for (std::size_t axis = 0; axis < at.size(); ++axis) {
      chunk.number = chunk.number * ((static_cast<std::size_t>(extent_.shape[axis]) - 1) / chunk_[axis] + 1) + at[axis];
      chunk.first.push_back(at[axis] * chunk_[axis]);
    }
    see(chunk);
    std::size_t axis = at.size();
    while (axis > 0 && ++at[axis - 1] == ranges[axis - 1].end) --axis, at[axis] = ranges[axis].first;
    if (axis == 0) return;
  }
}

/// Whether it went through filters. A chunk that the dataset's end cuts may have been left out.
bool Hdf5Dataset::is_packed(const Chunk& chunk) const {
  unsigned options = 0;
  H5Pget_chunk_opts(layout_.id(), &options);
  bool is_cut = false;
  for (std::size_t axis = 0; axis < chunk_.size(); ++axis)
    is_cut = is_cut || chunk.first[axis] + chunk_[axis] > static_cast<hsize_t>(extent_.shape[axis]);
  return !filters_.empty() && !(is_cut && (options & H5D_CHUNK_DONT_FILTER_PARTIAL_CHUNKS) != 0);
}

/// Bytes of a chunk in the file; unset if it was never written.
std::optional<std::size_t> Hdf5Dataset::stored_bytes(const Chunk& chunk, std::uintmax_t file_bytes) const {
  // (H5Dget_chunk_storage_size() gives a size for chunks that were never written.)
  unsigned skipped = 0;
  haddr_t address = HADDR_UNDEF;
  hsize_t stored = 0;
  if (H5Dget_chunk_info_by_coord(id(), chunk.first.data(), &skipped, &address, &stored) < 0) fail_hdf5_read();
  if (address == HADDR_UNDEF) return {};
  if (stored > file_bytes)
    throw FormatError(fmt::format("a chunk of {} bytes does not fit in a file of {}", stored, file_bytes));
  return static_cast<std::size_t>(stored);
}

namespace {

void require_chunk_size(std::size_t bytes, std::size_t expected) {
  if (bytes != expected)
    throw FormatError(fmt::format("a chunk of {} bytes was expected, found {}: the file is damaged", expected, bytes));
}

void inflate_into(const std::vector<std::byte>& packed, std::size_t most, std::vector<std::byte>& into) {
  into.resize(most);
  uLongf size = most;
  if (uncompress(reinterpret_cast<Bytef*>(into.data()), &size, reinterpret_cast<const Bytef*>(packed.data()),
                 packed.size()) != Z_OK)
    throw FormatError("a compressed chunk does not unpack to its size: the file is damaged");
  into.resize(size);
}

}  // namespace

/// Undoes the filters of a chunk that change its size.
void Hdf5Dataset::require_unpacked_size(const Chunk& chunk, std::size_t stored) {
  const std::size_t expected = chunk_bytes();
  packed_.resize(stored);
  std::uint32_t skipped = 0;
#if H5_VERS_MAJOR >= 2
  std::size_t room = packed_.size();
  const herr_t read = H5Dread_chunk2(id(), H5P_DEFAULT, chunk.first.data(), &skipped, packed_.data(), &room);
#else
  const herr_t read = H5Dread_chunk(id(), H5P_DEFAULT, chunk.first.data(), &skipped, packed_.data());
#endif
  if (read < 0) fail_hdf5_read();
  for (std::size_t i = is_packed(chunk) ? filters_.size() : 0; i-- > 0;) {
    if (((skipped >> i) & 1U) != 0) continue;
    if (filters_[i].id == H5Z_FILTER_FLETCHER32) {
      if (packed_.size() < checksum_bytes)
        throw FormatError("a chunk is shorter than its checksum: the file is damaged");
      packed_.resize(packed_.size() - checksum_bytes);
    }
    if (filters_[i].id == H5Z_FILTER_DEFLATE) {
      // Room for a checksum inside the packed part, and no more: a chunk that unpacks to more is refused too.
      inflate_into(packed_, expected + checksum_bytes, unpacked_);
      packed_.swap(unpacked_);
    }
  }
  require_chunk_size(packed_.size(), expected);
}

/// Checks the chunks that the library will read: that packed ones of the block unpack to their size, and that plain
/// ones, which are all of one size, take as many bytes as there are chunks of it. (To ask for the size of a single
/// chunk, the library looks at every one.)
void Hdf5Dataset::check_chunks(std::uintmax_t file_bytes, const ArrayBlock& block) {
  if (!has_chunks()) return;
  const std::size_t expected = chunk_bytes();
  require_known(filters_);
  if (!filters_.empty()) {
    each_chunk(block, [&](const Chunk& chunk) {
      if (checked_.contains(chunk.number)) return;
      if (const std::optional<std::size_t> stored = stored_bytes(chunk, file_bytes))
        require_unpacked_size(chunk, *stored);
      checked_.insert(chunk.number);
    });
    return;
  }
  (void)chunk_ranges(chunk_, block);
  if (!is_checked_) {
    hsize_t written = 0;
    if (H5Dget_num_chunks(id(), space(), &written) < 0) fail_hdf5_read();
    const hsize_t stored = H5Dget_storage_size(id());
    if (stored != written * expected)
      throw FormatError(fmt::format("{} chunks of {} bytes were expected, found {} bytes: the file is damaged", written,
                                    expected, stored));
    is_checked_ = true;
  }
}

void Hdf5Dataset::read(std::uintmax_t file_bytes, hid_t memory_type, const ArrayBlock& block, void* values) {
  check_chunks(file_bytes, block);
  if (block.count == extent_.shape) {
    if (H5Dread(id(), memory_type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) < 0) fail_hdf5_read();
    return;
  }
  const std::vector<hsize_t> start(block.first.begin(), block.first.end());
  const std::vector<hsize_t> count(block.count.begin(), block.count.end());
  const Hdf5Handle chosen(H5Scopy(space()), H5Sclose);
  const Hdf5Handle memory(H5Screate_simple(static_cast<int>(count.size()), count.data(), nullptr), H5Sclose);
  if (H5Sselect_hyperslab(chosen.id(), H5S_SELECT_SET, start.data(), nullptr, count.data(), nullptr) < 0 ||
      H5Dread(id(), memory_type, memory.id(), chosen.id(), H5P_DEFAULT, values) < 0)
    fail_hdf5_read();
}

std::vector<std::string> Hdf5Dataset::strings(std::uintmax_t file_bytes) {
  if (H5Tget_class(type()) != H5T_STRING)
    throw FormatError(fmt::format("expected text, found {}", hdf5_type_text(type())));
  check_readable(file_bytes, sizeof(std::string), whole());
  check_chunks(file_bytes, whole());
  return hdf5_strings(type(), space(), std::size_t{1} << 30U, [&](hid_t memory, void* buffer) {
    return H5Dread(id(), memory, H5S_ALL, H5S_ALL, H5P_DEFAULT, buffer) >= 0;
  });
}

}  // namespace headwave
