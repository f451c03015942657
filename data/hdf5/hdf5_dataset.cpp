#include "hdf5_dataset.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "../../core/errors/error.h"
#include "../files/printable.h"

namespace headwave {

namespace {

// Below this no question is asked how few bytes stand for it.
constexpr std::size_t harmless_bytes = std::size_t{64} << 20U;

herr_t refuse_other_file(const char*, const char*, const char*, const char*, unsigned*, hid_t, void*) {
  return -1;
}

// Whether `bytes` of data can come out of `stored` bytes of a file.
bool is_plausible(std::size_t bytes, std::uintmax_t stored) {
  return bytes <= harmless_bytes || bytes / best_compression <= stored;
}

// The library keeps a chunk's entries below 2^32, so nothing overflows here or where it is multiplied by an entry's
// size.
std::size_t chunk_entries(hid_t layout) {
  std::size_t entries = 1;
  for (const hsize_t size : hdf5_chunk_shape(layout))
    if (__builtin_mul_overflow(entries, size, &entries) || entries > most_hdf5_bytes) return most_hdf5_bytes;
  return entries;
}

Hdf5Handle file_creation_of(hid_t dataset) {
  const Hdf5Handle file(H5Iget_file_id(dataset), H5Fclose);
  return {H5Fget_create_plist(file.id()), H5Pclose};
}

/// Bytes that an entry takes where it lies: of a text of variable length its length, and where in the file it begins.
std::size_t stored_entry(hid_t dataset, hid_t type) {
  if (H5Tis_variable_str(type) <= 0) return H5Tget_size(type);
  const Hdf5Handle creation = file_creation_of(dataset);
  std::size_t address = 8, length = 8;
  H5Pget_sizes(creation.id(), &address, &length);
  return 4 + address + 4;
}

/// Whether something of another kind stands before the file's own bytes: addresses then do not count from its beginning.
bool begins_late(hid_t dataset) {
  const Hdf5Handle creation = file_creation_of(dataset);
  hsize_t before = 0;
  return H5Pget_userblock(creation.id(), &before) < 0 || before != 0;
}

}  // namespace

Hdf5Handle hdf5_object(hid_t file, const std::string& path) {
  note_hdf5_place(path);
  const Hdf5Handle access(H5Pcreate(H5P_LINK_ACCESS), H5Pclose);
  H5Pset_elink_cb(access.id(), refuse_other_file, nullptr);
  Hdf5Handle object(H5Oopen(file, path.c_str(), access.id()), H5Oclose);
  if (!object.valid()) throw FormatError(fmt::format("'{}' cannot be opened: {}", printable(path), hdf5_reason()));
  return object;
}

Hdf5Dataset::Hdf5Dataset(Hdf5Handle object) : dataset_(std::move(object)) {
  if (H5Iget_type(dataset_.id()) != H5I_DATASET) throw FormatError("expected a dataset, found a group or a type");
  type_ = Hdf5Handle(H5Dget_type(dataset_.id()), H5Tclose);
  layout_ = Hdf5Handle(H5Dget_create_plist(dataset_.id()), H5Pclose);
  // To tell its extent the library would open what a virtual dataset is made of, be it a pipe.
  if (H5Pget_layout(layout_.id()) == H5D_VIRTUAL) return;
  space_ = Hdf5Handle(H5Dget_space(dataset_.id()), H5Sclose);
  if (!type_.valid() || !space_.valid() || !layout_.valid()) throw FormatError(hdf5_reason());
  // A damaged type may claim to be of any size.
  if (hdf5_is_number(type_.id()) && H5Tget_size(type_.id()) > 16)
    throw FormatError(fmt::format("numbers of {} bytes: the file is damaged", H5Tget_size(type_.id())));
  extent_ = hdf5_extent(space_.id());
}

std::string Hdf5Dataset::storage_text() const {
  if (H5Pget_layout(layout_.id()) == H5D_VIRTUAL) return "virtual, made of other datasets";
  if (!extent_.scalar && extent_.shape.empty()) return "no entries";
  if (H5Pget_external_count(layout_.id()) > 0) return "in other files";
  switch (H5Pget_layout(layout_.id())) {
    case H5D_COMPACT:
      return "compact";
    case H5D_CONTIGUOUS:
      return "contiguous";
    case H5D_CHUNKED:
      break;
    default:
      return "unknown layout";
  }
  std::string text = fmt::format("chunks ({})", fmt::join(hdf5_chunk_shape(layout_.id()), ", "));
  for (const std::string& filter : hdf5_filter_texts(layout_.id())) text += ", " + filter;
  return text;
}

void Hdf5Dataset::require_own_data() const {
  if (H5Pget_layout(layout_.id()) == H5D_VIRTUAL || H5Pget_external_count(layout_.id()) > 0)
    throw FormatError("its numbers lie in other files, which are not followed: copy them into one file");
}

void Hdf5Dataset::check_readable(std::uintmax_t file_bytes, std::size_t memory_entry, const ArrayBlock& block) const {
  require_own_data();
  const H5D_layout_t kind = H5Pget_layout(layout_.id());
  const std::size_t entry = std::max(H5Tget_size(type_.id()), memory_entry);
  require_at_once(entries(block), entry);
  std::size_t bytes = 0;
  if (__builtin_mul_overflow(extent_.entries, H5Tget_size(type_.id()), &bytes))
    throw FormatError(fmt::format("{} entries: the file is damaged", extent_.entries));
  const std::uintmax_t stored = std::min<std::uintmax_t>(H5Dget_storage_size(dataset_.id()), file_bytes);
  // What is not chunked lies in the file byte for byte, or was never written; the library does not check that it is all
  // there.
  const bool never_written =
      kind == H5D_CONTIGUOUS && bytes > stored && stored == 0 && bytes <= harmless_bytes && !hdf5_is_complete(id());
  if (kind == H5D_CHUNKED ? !is_plausible(bytes, stored) : bytes > stored && !never_written)
    throw FormatError(fmt::format(
        "{} bytes are promised, {} are stored: the file is damaged, or the data was never written", bytes, stored));
  if (kind != H5D_CHUNKED || extent_.entries == 0) return;
  if (!is_plausible(H5Tget_size(type_.id()) * chunk_entries(layout_.id()), file_bytes))
    throw FormatError(fmt::format("its chunks are too large for a file of {} bytes: the file is damaged", file_bytes));
}

bool Hdf5Dataset::in_chunks() const {
  return H5Pget_layout(layout_.id()) == H5D_CHUNKED && extent_.entries > 0;
}

Hdf5Chunks Hdf5Dataset::chunks(std::uintmax_t file_bytes) const {
  return {id(), layout_.id(), extent_.shape, stored_entry(id(), type_.id()), file_bytes};
}

void Hdf5Dataset::check_chunks(std::uintmax_t file_bytes, const ArrayBlock& block) const {
  if (in_chunks()) chunks(file_bytes).check(block);
}

std::optional<Hdf5Places> Hdf5Dataset::places(std::uintmax_t file_bytes) const {
  const std::optional<Hdf5Number> number = hdf5_stored_number(type());
  if (!number || extent_.entries == 0 || begins_late(id())) return {};
  Hdf5Places places{extent_.shape, number->type, number->order, extent_.shape, 0, {}};
  if (in_chunks()) {
    if (!chunks(file_bytes).place(places)) return {};
  } else {
    const haddr_t address = H5Dget_offset(id());
    if (H5Pget_layout(layout_.id()) != H5D_CONTIGUOUS || address == HADDR_UNDEF) return {};
    places.pieces.push_back({address, extent_.entries * H5Tget_size(type())});
  }
  if (!places.are_sound(file_bytes)) return {};
  return places;
}

std::size_t Hdf5Dataset::entries(const ArrayBlock& block) const {
  if (block.count == extent_.shape) return extent_.entries;
  return entries_of(block);
}

void Hdf5Dataset::read(std::uintmax_t file_bytes, hid_t memory_type, const ArrayBlock& block, void* values) const {
  check_chunks(file_bytes, block);
  if (block.count == extent_.shape) {
    if (H5Dread(id(), memory_type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) < 0) throw FormatError(hdf5_reason());
    return;
  }
  const std::vector<hsize_t> start(block.first.begin(), block.first.end());
  const std::vector<hsize_t> count(block.count.begin(), block.count.end());
  const Hdf5Handle chosen(H5Scopy(space()), H5Sclose);
  const Hdf5Handle memory(H5Screate_simple(static_cast<int>(count.size()), count.data(), nullptr), H5Sclose);
  if (H5Sselect_hyperslab(chosen.id(), H5S_SELECT_SET, start.data(), nullptr, count.data(), nullptr) < 0 ||
      H5Dread(id(), memory_type, memory.id(), chosen.id(), H5P_DEFAULT, values) < 0)
    throw FormatError(hdf5_reason());
}

}  // namespace headwave
