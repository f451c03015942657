#include "hdf5_file.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <functional>
#include <limits>
#include <optional>
#include <set>
#include <utility>

#include <Eigen/Core>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <hdf5_hl.h>
#include <zlib.h>

#include "../../core/errors/error.h"
#include "../files/file_bytes.h"
#include "../files/printable.h"
#include "hdf5_handle.h"

namespace headwave {

namespace {

constexpr std::size_t most_names = 1'000'000, most_chunks = 1'000'000, most_attribute_numbers = 4096;
/// Most bytes that are read at once.
constexpr std::size_t most_bytes = std::size_t{16} << 30U;
/// A chunked dataset up to this size is read even if its stored bytes seem too few for it.
constexpr std::size_t harmless_bytes = std::size_t{64} << 20U;
/// Largest plausible ratio of data to stored bytes. Deflate reaches 1032.
constexpr std::size_t best_compression = 2000;
constexpr std::size_t checksum_bytes = 4;

// h5py and netCDF store booleans as an enumeration of FALSE and TRUE.
bool is_boolean(hid_t type) {
  if (H5Tget_nmembers(type) != 2) return false;
  for (const unsigned i : {0U, 1U}) {
    char* name = H5Tget_member_name(type, i);
    const bool expected = name != nullptr && std::strcmp(name, i == 0 ? "FALSE" : "TRUE") == 0;
    H5free_memory(name);
    if (!expected) return false;
  }
  return true;
}

// bfloat16: the upper 16 bits of a float32.
bool is_brain_float(hid_t type) {
  std::size_t sign = 0, exponent = 0, exponent_bits = 0, mantissa = 0, mantissa_bits = 0;
  return H5Tget_size(type) == 2 &&
         H5Tget_fields(type, &sign, &exponent, &exponent_bits, &mantissa, &mantissa_bits) >= 0 && mantissa_bits == 7;
}

/// A type in words, without its byte order: "float32", "bfloat16", "uint8", "bool", "enum", "string", ...
std::string type_text(hid_t type) {
  static const std::map<H5T_class_t, const char*> others{{H5T_STRING, "string"},
                                                         {H5T_OPAQUE, "opaque"},
                                                         {H5T_COMPOUND, "compound"},
                                                         {H5T_REFERENCE, "reference"},
                                                         {H5T_VLEN, "variable-length lists"},
                                                         {H5T_ARRAY, "arrays"},
                                                         {H5T_TIME, "time"}};
  const std::size_t bits = 8 * H5Tget_size(type);
  const H5T_class_t kind = H5Tget_class(type);
  if (kind == H5T_INTEGER) return fmt::format("{}int{}", H5Tget_sign(type) == H5T_SGN_NONE ? "u" : "", bits);
  if (kind == H5T_FLOAT) return fmt::format("{}float{}", is_brain_float(type) ? "b" : "", bits);
  if (kind == H5T_ENUM) return is_boolean(type) ? "bool" : "enum";
  if (kind == H5T_BITFIELD) return fmt::format("bitfield{}", bits);
  const auto found = others.find(kind);
  return found == others.end() ? "unknown" : found->second;
}

/// Whether entries of the type are real numbers, which the library converts.
bool is_number(hid_t type) {
  const H5T_class_t kind = H5Tget_class(type);
  return kind == H5T_INTEGER || kind == H5T_FLOAT || kind == H5T_ENUM;
}

/// Whether the type is unsigned with values beyond int64.
bool is_beyond_int64(hid_t type) {
  return H5Tget_size(type) >= 8 && H5Tget_sign(type) == H5T_SGN_NONE;
}

struct Extent {
  std::vector<Index> shape;  // empty: a single entry, or none
  bool scalar = false;       // a single entry without an axis
  std::size_t entries = 0;
};

Extent extent_of(hid_t space) {
  Extent extent;
  const H5S_class_t kind = H5Sget_simple_extent_type(space);
  if (kind == H5S_NULL) return extent;
  extent.entries = 1;
  extent.scalar = kind == H5S_SCALAR;
  if (extent.scalar) return extent;
  std::array<hsize_t, H5S_MAX_RANK> sizes{};
  const int axes = H5Sget_simple_extent_dims(space, sizes.data(), nullptr);
  if (kind != H5S_SIMPLE || axes < 0) throw FormatError("the shape cannot be read");
  for (const hsize_t size : std::span(sizes).first(static_cast<std::size_t>(axes))) {
    constexpr auto largest = static_cast<hsize_t>(std::numeric_limits<Index>::max());
    if (size > largest || __builtin_mul_overflow(extent.entries, size, &extent.entries) || extent.entries > largest)
      throw FormatError("the shape has more entries than any file can hold: the file is damaged");
    extent.shape.push_back(static_cast<Index>(size));
  }
  return extent;
}

std::string unpadded(std::string_view text, H5T_str_t padding) {
  if (padding == H5T_STR_SPACEPAD) return std::string(text.substr(0, text.find_last_not_of(' ') + 1));
  return std::string(text.substr(0, text.find('\0')));
}

/// The strings of a dataset or attribute, without padding.
/// @param read  fills a buffer with entries of a memory type; returns success
/// @throws FormatError if it fails
std::vector<std::string> strings_of(hid_t type, hid_t space, const std::function<bool(hid_t, void*)>& read) {
  const std::size_t entries = extent_of(space).entries, width = H5Tget_size(type);
  if (width == 0 || entries > most_bytes / width)
    throw FormatError(
        fmt::format("{} strings of {} bytes each exceed the 16 GiB that are read at once", entries, width));
  std::vector<std::string> texts;
  if (entries == 0) return texts;
  if (H5Tis_variable_str(type) <= 0) {
    std::string characters(entries * width, '\0');
    if (!read(type, characters.data())) fail_hdf5_read();
    for (std::size_t i = 0; i < entries; ++i)
      texts.push_back(unpadded(std::string_view(characters).substr(i * width, width), H5Tget_strpad(type)));
    return texts;
  }
  const Hdf5Handle memory(H5Tcopy(H5T_C_S1), H5Tclose);
  H5Tset_size(memory.id(), H5T_VARIABLE);
  H5Tset_cset(memory.id(), H5Tget_cset(type));
  std::vector<char*> pointers(entries, nullptr);
  if (!read(memory.id(), pointers.data())) fail_hdf5_read();
  for (const char* text : pointers) texts.emplace_back(text == nullptr ? "" : text);
#if H5_VERSION_GE(1, 12, 0)
  H5Treclaim(memory.id(), space, H5P_DEFAULT, pointers.data());
#else
  H5Dvlen_reclaim(memory.id(), space, H5P_DEFAULT, pointers.data());
#endif
  return texts;
}

/// Appends a name that the library hands out to the list.
template <class Info>
herr_t keep_name(hid_t, const char* name, const Info*, void* list) {
  auto& kept = *static_cast<std::vector<std::string>*>(list);
  if (kept.size() >= most_names) return 1;
  try {
    kept.emplace_back(name);
  } catch (...) {
    return -1;  // no exception may cross the C library
  }
  return 0;
}

struct StoredAttribute {
  StoredAttribute(hid_t object, const std::string& name)
      : handle(H5Aopen(object, name.c_str(), H5P_DEFAULT), H5Aclose),
        type(H5Aget_type(handle.id()), H5Tclose),
        space(H5Aget_space(handle.id()), H5Sclose) {
    if (!handle.valid() || !type.valid() || !space.valid()) fail_hdf5_read();
  }
  [[nodiscard]] bool is_text() const { return H5Tget_class(type.id()) == H5T_STRING; }
  [[nodiscard]] std::vector<std::string> texts() const {
    return strings_of(type.id(), space.id(),
                      [&](hid_t memory, void* buffer) { return H5Aread(handle.id(), memory, buffer) >= 0; });
  }
  template <class Number>
  [[nodiscard]] std::vector<Number> numbers(hid_t memory, std::size_t entries) const {
    std::vector<Number> numbers(entries);
    if (entries > 0 && H5Aread(handle.id(), memory, numbers.data()) < 0) fail_hdf5_read();
    return numbers;
  }
  /// A single number or text unchanged; up to 4096 numbers as a list of doubles; several texts joined by
  /// commas; anything else described in brackets.
  [[nodiscard]] Attribute value() const {
    const Extent extent = extent_of(space.id());
    if (is_text()) return fmt::format("{}", fmt::join(texts(), ", "));
    if (!is_number(type.id()) || extent.entries > most_attribute_numbers)
      return extent.scalar ? fmt::format("({})", type_text(type.id()))
                           : fmt::format("({}, {} entries)", type_text(type.id()), extent.entries);
    if (!extent.scalar) return numbers<double>(H5T_NATIVE_DOUBLE, extent.entries);
    const bool whole = H5Tget_class(type.id()) != H5T_FLOAT && !is_beyond_int64(type.id());
    if (whole) return numbers<std::int64_t>(H5T_NATIVE_INT64, 1).front();
    return numbers<double>(H5T_NATIVE_DOUBLE, 1).front();
  }

  Hdf5Handle handle, type, space;
};

Attributes attributes_of(hid_t object) {
  std::vector<std::string> names;
  // In a damaged file, the attributes found before the library failed are still worth showing.
  if (H5Aiterate2(object, H5_INDEX_NAME, H5_ITER_NATIVE, nullptr, keep_name<H5A_info_t>, &names) < 0 &&
      hdf5_read_failed_by_system())
    fail_hdf5_read("attributes");
  Attributes attributes;
  for (const std::string& name : names) try {
      attributes[name] = StoredAttribute(object, name).value();
    } catch (const FormatError&) {
      attributes[name] = "(cannot be read)";
    }
  return attributes;
}

herr_t refuse_other_file(const char*, const char*, const char*, const char*, unsigned*, hid_t, void*) {
  return -1;
}

/// Opens a group, dataset or type by its path. Soft links are followed, but never into another file.
/// @throws FormatError if there is no such object, or it cannot be opened
Hdf5Handle object_at(hid_t file, const std::string& path) {
  const Hdf5Handle access(H5Pcreate(H5P_LINK_ACCESS), H5Pclose);
  H5Pset_elink_cb(access.id(), refuse_other_file, nullptr);
  Hdf5Handle object(H5Oopen(file, path.c_str(), access.id()), H5Oclose);
  if (!object.valid()) fail_hdf5_read("cannot be opened");
  return object;
}

bool is_plausible(std::size_t bytes, std::uintmax_t stored) {
  return bytes <= harmless_bytes || bytes / best_compression <= stored;
}

/// A filter that was applied to a dataset's chunks when they were written.
struct Filter {
  H5Z_filter_t id;
  std::string text;  // "shuffle", "gzip 2", "fletcher32", "filter 32001 blosc"

  [[nodiscard]] bool is_known() const {
    return id == H5Z_FILTER_DEFLATE || id == H5Z_FILTER_SHUFFLE || id == H5Z_FILTER_FLETCHER32;
  }
};

/// The filters of a dataset, in the order in which they were applied.
std::vector<Filter> filters_of(hid_t layout) {
  std::vector<Filter> filters;
  const int count = H5Pget_nfilters(layout);
  for (int i = 0; i < count; ++i) {
    unsigned flags = 0, config = 0;
    std::array<unsigned, 16> values{};
    std::size_t value_count = values.size();
    std::array<char, 64> name{};
    const H5Z_filter_t id = H5Pget_filter2(layout, static_cast<unsigned>(i), &flags, &value_count, values.data(),
                                           name.size() - 1, name.data(), &config);
    filters.push_back({id, id == H5Z_FILTER_DEFLATE   ? fmt::format("gzip {}", values[0])
                           : id == H5Z_FILTER_SHUFFLE ? "shuffle"
                           : id == H5Z_FILTER_FLETCHER32
                               ? "fletcher32"
                               : fmt::format("filter {} {}", id, printable(name.data(), 40))});
  }
  return filters;
}

/// An open dataset. Before a block is read, its stored bytes are compared with its size, because the library
/// trusts a damaged file. The library (1.10 at least) copies the full size of a chunk from what the filters
/// gave, so a chunk that unpacks to less makes it read beyond its memory.
class Dataset {
 public:
  /// @throws FormatError if the object is not a dataset, or is broken
  Dataset(Hdf5Handle object, std::uintmax_t file_bytes);

  [[nodiscard]] hid_t id() const { return dataset_.id(); }
  [[nodiscard]] hid_t type() const { return type_.id(); }
  [[nodiscard]] const Extent& extent() const { return extent_; }
  [[nodiscard]] std::size_t entries(const ArrayBlock& block) const {
    return block.count == extent_.shape ? extent_.entries : entries_of(block);
  }
  /// Layout and filters in words: "chunks (1, 64), shuffle, gzip 2".
  [[nodiscard]] std::string storage_text() const;
  /// Refuses a block whose data lie outside the file, exceed what the file's bytes can hold, or have chunks
  /// of a wrong size.
  /// @param memory_entry  bytes of one entry in memory
  void require_readable(const ArrayBlock& block, std::size_t memory_entry);
  /// Reads a block that require_readable() accepted, converted to a memory type by the library.
  void read(hid_t memory_type, const ArrayBlock& block, void* values) const;
  [[nodiscard]] std::vector<std::string> strings();

 private:
  [[nodiscard]] std::size_t chunk_bytes() const;
  void check_chunks(const ArrayBlock& block);
  void check_packed_chunk(const std::vector<hsize_t>& first);

  Hdf5Handle dataset_, type_, space_;
  Hdf5Handle layout_;  // the creation properties
  H5D_layout_t kind_ = H5D_CONTIGUOUS;
  std::uintmax_t file_bytes_;
  Extent extent_;
  std::vector<hsize_t> chunk_;  // sizes along the axes; empty if the dataset is not chunked
  std::vector<Filter> filters_;
  bool has_right_size_ = false;             // of all unfiltered chunks together
  std::set<std::vector<hsize_t>> checked_;  // first entries of filtered chunks that were found to have the right size
};

Dataset::Dataset(Hdf5Handle object, std::uintmax_t file_bytes) : dataset_(std::move(object)), file_bytes_(file_bytes) {
  if (H5Iget_type(id()) != H5I_DATASET) throw FormatError("expected a dataset, found a group or a type");
  type_ = Hdf5Handle(H5Dget_type(id()), H5Tclose);
  layout_ = Hdf5Handle(H5Dget_create_plist(id()), H5Pclose);
  kind_ = H5Pget_layout(layout_.id());
  // To find its extent, the library would open the parts of a virtual dataset, even if one is a pipe.
  if (kind_ == H5D_VIRTUAL) return;
  space_ = Hdf5Handle(H5Dget_space(id()), H5Sclose);
  if (!type_.valid() || !space_.valid() || !layout_.valid()) fail_hdf5_read();
  // A damaged type may claim any size.
  if (is_number(type()) && H5Tget_size(type()) > 16)
    throw FormatError(fmt::format("its numbers have {} bytes each: the file is damaged", H5Tget_size(type())));
  extent_ = extent_of(space_.id());
  if (kind_ != H5D_CHUNKED) return;
  std::array<hsize_t, H5S_MAX_RANK> sizes{};
  const int axes = H5Pget_chunk(layout_.id(), H5S_MAX_RANK, sizes.data());
  chunk_.assign(sizes.begin(), sizes.begin() + std::clamp(axes, 0, H5S_MAX_RANK));
  filters_ = filters_of(layout_.id());
}

std::string Dataset::storage_text() const {
  if (kind_ == H5D_VIRTUAL) return "virtual, made of other datasets";
  if (!extent_.scalar && extent_.shape.empty()) return "no entries";
  if (H5Pget_external_count(layout_.id()) > 0) return "in other files";
  if (kind_ == H5D_COMPACT) return "compact";
  if (kind_ == H5D_CONTIGUOUS) return "contiguous";
  std::string text = fmt::format("chunks ({})", fmt::join(chunk_, ", "));
  for (const Filter& filter : filters_) text += ", " + filter.text;
  return text;
}

void Dataset::require_readable(const ArrayBlock& block, std::size_t memory_entry) {
  if (kind_ == H5D_VIRTUAL || H5Pget_external_count(layout_.id()) > 0)
    throw FormatError("its numbers lie in other files, which headwave does not open: copy them into this file");
  const std::size_t stored_size = H5Tget_size(type());
  if (entries(block) > most_bytes / std::max(stored_size, memory_entry))
    throw FormatError(fmt::format("{} entries exceed the 16 GiB that are read at once", entries(block)));
  std::size_t bytes = 0;
  if (__builtin_mul_overflow(extent_.entries, stored_size, &bytes)) bytes = std::numeric_limits<std::size_t>::max();
  const std::uintmax_t stored = std::min<std::uintmax_t>(H5Dget_storage_size(id()), file_bytes_);
  // Unchunked data lie in the file byte for byte, or were never written. The library does not check which.
  const bool never_written = kind_ == H5D_CONTIGUOUS && stored == 0 && bytes <= harmless_bytes;
  if (kind_ == H5D_CHUNKED ? !is_plausible(bytes, stored) : bytes > stored && !never_written)
    throw FormatError(
        fmt::format("its shape needs {} bytes, but {} are stored: the file is damaged, or the data was never written",
                    bytes, stored));
  if (kind_ == H5D_CHUNKED && extent_.entries > 0) check_chunks(block);
}

std::size_t Dataset::chunk_bytes() const {
  constexpr std::size_t heap_place = 16;  // a text of variable length is stored as its length and its place in a heap
  std::size_t bytes = H5Tis_variable_str(type()) > 0 ? heap_place : H5Tget_size(type());
  for (const hsize_t size : chunk_)
    if (__builtin_mul_overflow(bytes, size, &bytes)) return std::numeric_limits<std::size_t>::max();
  return bytes;
}

/// Checks the chunks that the library will read. Filtered chunks of the block must unpack to their size.
/// Unfiltered chunks all have one size, so their stored bytes must be that size times their number. (To find
/// the size of a single chunk, the library looks at every one.)
void Dataset::check_chunks(const ArrayBlock& block) {
  if (chunk_.size() != extent_.shape.size() || std::ranges::count(chunk_, hsize_t{0}) > 0 ||
      !is_plausible(chunk_bytes(), file_bytes_))
    throw FormatError(
        fmt::format("its chunks do not fit its shape, or not the file of {} bytes: the file is damaged", file_bytes_));
  for (const Filter& filter : filters_)
    if (!filter.is_known())
      // (h5repack silently omits a dataset with a filter that the library does not have.)
      throw FormatError(fmt::format(
          "is stored with {}, expected no filter but shuffle, gzip and fletcher32: {}", filter.text,
          filter.id < H5Z_FILTER_RESERVED
              ? "repack the file with h5repack -f GZIP=4"
              : "write it again with h5py, new.create_dataset(name, data=old[name][()], compression='gzip')"));
  if (entries(block) == 0) return;
  std::vector<hsize_t> first, end;
  std::size_t count = 1;
  for (std::size_t axis = 0; axis < chunk_.size(); ++axis) {
    const auto begin = static_cast<hsize_t>(block.first[axis]);
    first.push_back(begin / chunk_[axis] * chunk_[axis]);
    end.push_back(begin + static_cast<hsize_t>(block.count[axis]));
    if (__builtin_mul_overflow(count, (end[axis] - first[axis] - 1) / chunk_[axis] + 1, &count) || count > most_chunks)
      throw FormatError(fmt::format(
          "the requested block has more than {} chunks, the most that are read: repack the file with larger chunks",
          most_chunks));
  }
  if (filters_.empty()) {
    if (has_right_size_) return;
    const hsize_t stored = H5Dget_storage_size(id());
    hsize_t written = 0;
    if (H5Dget_num_chunks(id(), space_.id(), &written) < 0) fail_hdf5_read();
    has_right_size_ = stored == written * chunk_bytes();
    if (!has_right_size_)
      throw FormatError(fmt::format("expected {} chunks of {} bytes, found {} bytes in all: the file is damaged",
                                    written, chunk_bytes(), stored));
    return;
  }
  std::vector<hsize_t> at = first;
  for (std::size_t i = 0; i < count; ++i) {
    if (!checked_.contains(at)) check_packed_chunk(at);
    checked_.insert(at);
    for (std::size_t axis = at.size(); axis-- > 0; at[axis] = first[axis]) {
      at[axis] += chunk_[axis];
      if (at[axis] < end[axis]) break;
    }
  }
}

/// Undoes the filters that change a chunk's size, and checks the result.
void Dataset::check_packed_chunk(const std::vector<hsize_t>& first) {
  // (H5Dget_chunk_storage_size() gives a size even for chunks that were never written.)
  unsigned skipped = 0;
  haddr_t address = HADDR_UNDEF;
  hsize_t stored = 0;
  if (H5Dget_chunk_info_by_coord(id(), first.data(), &skipped, &address, &stored) < 0) fail_hdf5_read();
  if (address == HADDR_UNDEF) return;
  if (stored > file_bytes_)
    throw FormatError(fmt::format("a chunk of {} bytes does not fit in a file of {} bytes: the file is damaged", stored,
                                  file_bytes_));
  std::string packed(stored, '\0');
  std::uint32_t left_out = 0;
#if H5_VERS_MAJOR >= 2
  std::size_t room = packed.size();
  const herr_t read = H5Dread_chunk2(id(), H5P_DEFAULT, first.data(), &left_out, packed.data(), &room);
#else
  const herr_t read = H5Dread_chunk(id(), H5P_DEFAULT, first.data(), &left_out, packed.data());
#endif
  if (read < 0) fail_hdf5_read();
  const std::size_t expected = chunk_bytes();
  for (std::size_t i = filters_.size(); i-- > 0;) {
    if (((left_out >> i) & 1U) != 0) continue;
    if (filters_[i].id == H5Z_FILTER_FLETCHER32) packed.resize(packed.size() - std::min(checksum_bytes, packed.size()));
    if (filters_[i].id != H5Z_FILTER_DEFLATE) continue;
    // Room for a checksum applied before packing, and no more: a chunk that unpacks to more is refused too.
    std::string unpacked(expected + checksum_bytes, '\0');
    uLongf size = unpacked.size();
    if (uncompress(reinterpret_cast<Bytef*>(unpacked.data()), &size, reinterpret_cast<const Bytef*>(packed.data()),
                   packed.size()) != Z_OK)
      throw FormatError("a compressed chunk does not unpack to its size: the file is damaged");
    unpacked.resize(size);
    packed.swap(unpacked);
  }
  if (packed.size() != expected)
    throw FormatError(
        fmt::format("expected a chunk of {} bytes, found {} bytes: the file is damaged", expected, packed.size()));
}

void Dataset::read(hid_t memory_type, const ArrayBlock& block, void* values) const {
  if (block.count == extent_.shape) {
    if (H5Dread(id(), memory_type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) < 0) fail_hdf5_read();
    return;
  }
  const std::vector<hsize_t> start(block.first.begin(), block.first.end());
  const std::vector<hsize_t> count(block.count.begin(), block.count.end());
  const Hdf5Handle chosen(H5Scopy(space_.id()), H5Sclose);
  const Hdf5Handle memory(H5Screate_simple(static_cast<int>(count.size()), count.data(), nullptr), H5Sclose);
  if (H5Sselect_hyperslab(chosen.id(), H5S_SELECT_SET, start.data(), nullptr, count.data(), nullptr) < 0 ||
      H5Dread(id(), memory_type, memory.id(), chosen.id(), H5P_DEFAULT, values) < 0)
    fail_hdf5_read();
}

std::vector<std::string> Dataset::strings() {
  if (H5Tget_class(type()) != H5T_STRING)
    throw FormatError(fmt::format("expected strings, found {}", type_text(type())));
  require_readable(whole_block(extent_.shape), sizeof(std::string));
  return strings_of(type(), space_.id(), [&](hid_t memory, void* buffer) {
    return H5Dread(id(), memory, H5S_ALL, H5S_ALL, H5P_DEFAULT, buffer) >= 0;
  });
}

/// The target of a soft or external link; empty for a hard link.
std::string link_target(hid_t file, const std::string& path) {
  H5L_info_t info{};
  if (H5Lget_info(file, path.c_str(), &info, H5P_DEFAULT) < 0) fail_hdf5_read();
  if (info.type == H5L_TYPE_HARD) return "";
  const bool is_known = info.type == H5L_TYPE_SOFT || info.type == H5L_TYPE_EXTERNAL;
  if (!is_known || info.u.val_size > (std::size_t{1} << 16U)) return "of a user-defined kind";
  std::string value(info.u.val_size + 1, '\0');
  if (H5Lget_val(file, path.c_str(), value.data(), info.u.val_size, H5P_DEFAULT) < 0) fail_hdf5_read();
  if (info.type == H5L_TYPE_SOFT) return fmt::format("to {}", value.c_str());
  const char* other = nullptr;
  const char* object = nullptr;
  unsigned flags = 0;
  if (H5Lunpack_elink_val(value.data(), info.u.val_size, &flags, &other, &object) < 0) fail_hdf5_read();
  return fmt::format("to {} in another file, {}", object, other);
}

Hdf5Node node_of(Hdf5Handle object, const std::string& path, std::uintmax_t file_bytes) {
  Hdf5Node node{path, "type", {}, "", "", attributes_of(object.id())};
  const H5I_type_t kind = H5Iget_type(object.id());
  if (kind == H5I_GROUP) node.kind = "group";
  if (kind == H5I_DATATYPE) node.dtype = type_text(object.id());
  if (kind != H5I_DATASET) return node;
  const Dataset dataset(std::move(object), file_bytes);
  node.kind = "dataset";
  node.shape = dataset.extent().shape;
  node.dtype = type_text(dataset.type());
  node.storage = dataset.storage_text();
  return node;
}

Hdf5Node member_node(hid_t file, const std::string& path, std::uintmax_t file_bytes) {
  const std::string target = path == "/" ? "" : link_target(file, path);
  if (!target.empty()) return {path, "link", {}, "", target, {}};
  return node_of(object_at(file, path), path, file_bytes);
}

std::string last_name(hid_t object) {
  std::string path(1024, '\0');
  const ssize_t length = H5Iget_name(object, path.data(), path.size());
  if (length <= 0 || static_cast<std::size_t>(length) >= path.size()) return "";
  path.resize(static_cast<std::size_t>(length));
  return path.substr(path.rfind('/') + 1);
}

}  // namespace

/// The file, open in the library. Datasets stay open, since opening one costs as much as reading a small one.
struct Hdf5File::Opened {
  Opened(const std::filesystem::path& path, std::uintmax_t size) : bytes(size) {
    const Hdf5Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
    // h5py's default chunks of states hold tens of documents; keep them unpacked for the next document.
    constexpr std::size_t places = 10007, most_unpacked = std::size_t{16} << 20U;
    H5Pset_cache(access.id(), 0, places, most_unpacked, 0.75);
    file = Hdf5Handle(H5Fopen(path.c_str(), H5F_ACC_RDONLY, access.id()), H5Fclose);
    if (!file.valid()) fail_hdf5_read("cannot be read as an HDF5 file");
  }

  Dataset& dataset(const std::string& path) {
    constexpr std::size_t most_open = 1000;
    if (const auto found = datasets.find(path); found != datasets.end()) return found->second;
    if (datasets.size() >= most_open) datasets.clear();
    return datasets.emplace(path, Dataset(object_at(file.id(), path), bytes)).first->second;
  }

  /// @param chosen  null: all entries
  template <class Number>
  std::vector<Number> numbers(const std::string& path, hid_t memory_type, const ArrayBlock* chosen = nullptr) {
    Dataset& data = dataset(path);
    if (!is_number(data.type())) throw FormatError(fmt::format("expected numbers, found {}", type_text(data.type())));
    const ArrayBlock block = chosen == nullptr ? whole_block(data.extent().shape) : *chosen;
    require_inside(block, data.extent().shape);
    data.require_readable(block, sizeof(Number));
    std::vector<Number> values(data.entries(block));
    if (values.empty()) return values;
    if constexpr (std::is_same_v<Number, float>) {
      const Hdf5Handle half = hdf5_half_type();
      if (H5Tequal(data.type(), half.id()) > 0) {
        // The library would convert halves bit by bit, which takes 0.1 us each.
        std::vector<Eigen::half> halves(values.size());
        data.read(half.id(), block, halves.data());
        std::ranges::copy(halves, values.begin());
        return values;
      }
    }
    data.read(memory_type, block, values.data());
    return values;
  }

  std::uintmax_t bytes;
  Hdf5Handle file;
  std::map<std::string, Dataset> datasets;
};

/// Runs some work in the library; errors name the file and the object.
template <class Work>
auto Hdf5File::read_named(const std::string& object, Work work) const {
  const Hdf5Session session(name_.c_str());
  const auto told = [&](const Error& problem) {
    return fmt::format("{}: {}{}{}", name_, printable(object), object.empty() ? "" : ": ", problem.finding());
  };
  try {
    return work();
  } catch (const FormatError& problem) {
    throw FormatError(told(problem));
  } catch (const ShapeError& problem) {
    throw ShapeError(told(problem));
  } catch (const IoError& problem) {
    throw IoError(told(problem));
  }
}

Hdf5File::Hdf5File(const std::filesystem::path& path) : path_(path), name_(shown_path(path)) {
  const std::uintmax_t bytes = FileBytes(path).size();  // better errors than the library's
  read_named("", [&] { opened_ = std::make_unique<Opened>(path, bytes); });
}

Hdf5File::~Hdf5File() {
  const Hdf5Session session(name_.c_str());
  opened_.reset();
}

std::vector<Hdf5Node> Hdf5File::tree() const {
  return read_named("", [&] {
    const hid_t file = opened_->file.id();
    std::vector<Hdf5Node> nodes{member_node(file, "/", opened_->bytes)};
    const auto unreadable = [&](const std::string& path, const std::string& why) {
      nodes.push_back({path, "unreadable", {}, "", why, {}});
    };
    std::string problem;
    std::vector<std::string> paths;
    for (const H5_index_t index : {H5_INDEX_CRT_ORDER, H5_INDEX_NAME}) {
      paths.clear();
      problem.clear();
      if (H5Lvisit(file, index, H5_ITER_INC, keep_name<H5L_info_t>, &paths) >= 0) break;
      if (hdf5_read_failed_by_system()) fail_hdf5_read();
      problem = hdf5_reason();
    }
    for (const std::string& name : paths) {
      const std::string path = "/" + name;
      try {
        nodes.push_back(member_node(file, path, opened_->bytes));
      } catch (const FormatError& broken) {  // one broken object must not hide the others
        unreadable(path, std::string(broken.finding()));
      }
    }
    if (!problem.empty()) unreadable("/", problem);
    return nodes;
  });
}

Hdf5Node Hdf5File::node(const std::string& object) const {
  return read_named(object, [&] { return node_of(object_at(opened_->file.id(), object), object, opened_->bytes); });
}

std::vector<std::string> Hdf5File::attribute_texts(const std::string& object, const std::string& attribute) const {
  return read_named(object, [&]() -> std::vector<std::string> {
    const Hdf5Handle opened = object_at(opened_->file.id(), object);
    if (H5Aexists(opened.id(), attribute.c_str()) <= 0) return {};
    const StoredAttribute stored(opened.id(), attribute);
    if (!stored.is_text())
      throw FormatError(fmt::format("attribute '{}': expected a string, found {}", printable(attribute),
                                    type_text(stored.type.id())));
    return stored.texts();
  });
}

std::vector<std::string> Hdf5File::scales(const std::string& dataset) const {
  return read_named(dataset, [&] {
    const Dataset& data = opened_->dataset(dataset);
    std::vector<std::string> names(data.extent().shape.size());
    const auto keep_first = [](hid_t, unsigned, hid_t scale, void* name) -> herr_t {
      *static_cast<std::string*>(name) = last_name(scale);
      return 1;
    };
    for (std::size_t axis = 0; axis < names.size(); ++axis)
      H5DSiterate_scales(data.id(), static_cast<unsigned>(axis), nullptr, keep_first, &names[axis]);
    return names;
  });
}

std::vector<double> Hdf5File::doubles(const std::string& dataset) const {
  return read_named(dataset, [&] { return opened_->numbers<double>(dataset, H5T_NATIVE_DOUBLE); });
}

std::vector<float> Hdf5File::floats(const std::string& dataset) const {
  return read_named(dataset, [&] { return opened_->numbers<float>(dataset, H5T_NATIVE_FLOAT); });
}

std::vector<float> Hdf5File::floats(const std::string& dataset, const ArrayBlock& block) const {
  return read_named(dataset, [&] { return opened_->numbers<float>(dataset, H5T_NATIVE_FLOAT, &block); });
}

std::vector<std::int64_t> Hdf5File::integers(const std::string& dataset) const {
  return read_named(dataset, [&] {
    const hid_t type = opened_->dataset(dataset).type();
    if (H5Tget_class(type) == H5T_FLOAT) throw FormatError(fmt::format("expected integers, found {}", type_text(type)));
    // The library would silently clip unsigned numbers beyond int64; read as unsigned, they become negative.
    const bool unsigned_ones = is_number(type) && is_beyond_int64(type);
    std::vector<std::int64_t> values =
        opened_->numbers<std::int64_t>(dataset, unsigned_ones ? H5T_NATIVE_UINT64 : H5T_NATIVE_INT64);
    if (unsigned_ones && std::ranges::any_of(values, [](std::int64_t value) { return value < 0; }))
      throw FormatError("an unsigned integer exceeds 2^63 - 1, the largest that is read");
    return values;
  });
}

std::vector<std::string> Hdf5File::strings(const std::string& dataset) const {
  return read_named(dataset, [&] { return opened_->dataset(dataset).strings(); });
}

}  // namespace headwave
