#include "hdf5_type.h"

#include <array>
#include <cstring>
#include <limits>
#include <map>

#include <Eigen/Core>
#include <fmt/format.h>

#include "../../core/errors/error.h"
#include "../files/unicode_text.h"

namespace headwave {

namespace {

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

std::string unpadded(const char* text, std::size_t length, H5T_str_t padding) {
  std::string_view shown(text, length);
  if (padding == H5T_STR_SPACEPAD) return std::string(shown.substr(0, shown.find_last_not_of(' ') + 1));
  return std::string(shown.substr(0, shown.find('\0')));
}

std::vector<std::string> variable_strings(hid_t type, hid_t space, std::size_t entries,
                                          const std::function<bool(hid_t, void*)>& read) {
  const Hdf5Handle memory(H5Tcopy(H5T_C_S1), H5Tclose);
  H5Tset_size(memory.id(), H5T_VARIABLE);
  H5Tset_cset(memory.id(), H5Tget_cset(type));
  std::vector<char*> pointers(entries, nullptr);
  if (!read(memory.id(), pointers.data())) throw FormatError(hdf5_reason());
  std::vector<std::string> texts;
  texts.reserve(entries);
  for (const char* text : pointers) texts.emplace_back(text == nullptr ? "" : text);
#if H5_VERSION_GE(1, 12, 0)
  H5Treclaim(memory.id(), space, H5P_DEFAULT, pointers.data());
#else
  H5Dvlen_reclaim(memory.id(), space, H5P_DEFAULT, pointers.data());
#endif
  return texts;
}

/// Converts entries in place, as the library asks: they are `stride` bytes apart, or, if it is 0, one after another,
/// with the size of From before and of To after.
template <class From, class To>
herr_t convert_halves(hid_t, hid_t, H5T_cdata_t* about, std::size_t entries, std::size_t stride, std::size_t,
                      void* buffer, void*, hid_t) {
  about->need_bkg = H5T_BKG_NO;
  if (about->command != H5T_CONV_CONV) return 0;
  auto* bytes = static_cast<std::byte*>(buffer);
  const std::size_t from_stride = stride == 0 ? sizeof(From) : stride, to_stride = stride == 0 ? sizeof(To) : stride;
  for (std::size_t k = 0; k < entries; ++k) {
    const std::size_t i =
        to_stride > from_stride ? entries - 1 - k : k;  // nothing is written over that is still to be read
    From from;
    std::memcpy(&from, bytes + i * from_stride, sizeof from);
    const To to(from);
    std::memcpy(bytes + i * to_stride, &to, sizeof to);
  }
  return 0;
}

template <class Number>
void register_half(hid_t half, hid_t number) {
  H5Tregister(H5T_PERS_HARD, "from half", half, number, &convert_halves<Eigen::half, Number>);
  H5Tregister(H5T_PERS_HARD, "to half", number, half, &convert_halves<Number, Eigen::half>);
}

}  // namespace

Hdf5Handle hdf5_half_type() {
  Hdf5Handle type(H5Tcopy(H5T_IEEE_F32LE), H5Tclose);
  if (H5Tset_fields(type.id(), 15, 10, 5, 0, 10) < 0 || H5Tset_size(type.id(), 2) < 0 ||
      H5Tset_ebias(type.id(), 15) < 0)
    return {};
  return type;
}

void register_half_conversions() {
  const Hdf5Handle half = hdf5_half_type();
  if (!half.valid()) return;
  register_half<float>(half.id(), H5T_NATIVE_FLOAT);
  register_half<double>(half.id(), H5T_NATIVE_DOUBLE);
}

Hdf5Handle hdf5_text_type() {
  Hdf5Handle type(H5Tcopy(H5T_C_S1), H5Tclose);
  if (H5Tset_size(type.id(), H5T_VARIABLE) < 0 || H5Tset_cset(type.id(), H5T_CSET_UTF8) < 0)
    throw IoError(fmt::format("the type of texts cannot be made: {}", hdf5_reason()));
  return type;
}

Hdf5Texts::Hdf5Texts(const std::vector<std::string>& texts) {
  texts_.reserve(texts.size());
  for (const std::string& text : texts) {
    std::string& valid = texts_.emplace_back(valid_utf8(text));
    for (std::size_t at = valid.find('\0'); at != valid.npos; at = valid.find('\0', at)) valid.replace(at, 1, "\u2400");
    characters_.push_back(valid.c_str());
  }
}

std::string hdf5_type_text(hid_t type) {
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

bool hdf5_is_number(hid_t type) {
  const H5T_class_t kind = H5Tget_class(type);
  return kind == H5T_INTEGER || kind == H5T_FLOAT || kind == H5T_ENUM;
}

Hdf5Extent hdf5_extent(hid_t space) {
  Hdf5Extent extent;
  const H5S_class_t kind = H5Sget_simple_extent_type(space);
  if (kind == H5S_NULL) return extent;
  extent.entries = 1;
  extent.scalar = kind == H5S_SCALAR;
  if (extent.scalar) return extent;
  std::array<hsize_t, H5S_MAX_RANK> sizes{};
  const int axes = H5Sget_simple_extent_ndims(space);
  if (kind != H5S_SIMPLE || axes < 0 || axes > H5S_MAX_RANK ||
      H5Sget_simple_extent_dims(space, sizes.data(), nullptr) < 0)
    throw FormatError("the shape cannot be read");
  for (int axis = 0; axis < axes; ++axis) {
    constexpr auto largest = static_cast<hsize_t>(std::numeric_limits<Index>::max());
    const hsize_t size = sizes[static_cast<std::size_t>(axis)];
    if (size > largest || __builtin_mul_overflow(extent.entries, size, &extent.entries) || extent.entries > largest)
      throw FormatError("the shape has more entries than any file can hold");
    extent.shape.push_back(static_cast<Index>(size));
  }
  return extent;
}

std::vector<std::string> hdf5_strings(hid_t type, hid_t space, std::size_t most_bytes,
                                      const std::function<bool(hid_t, void*)>& read) {
  const std::size_t entries = hdf5_extent(space).entries;
  const std::size_t width = H5Tget_size(type);
  if (width == 0 || entries > most_bytes / width)
    throw FormatError(fmt::format("{} texts of {} bytes are more than is read", entries, width));
  if (entries == 0) return {};
  if (H5Tis_variable_str(type) > 0) return variable_strings(type, space, entries, read);
  std::vector<char> characters(entries * width);
  if (!read(type, characters.data())) throw FormatError(hdf5_reason());
  std::vector<std::string> texts;
  texts.reserve(entries);
  for (std::size_t i = 0; i < entries; ++i)
    texts.push_back(unpadded(characters.data() + i * width, width, H5Tget_strpad(type)));
  return texts;
}

}  // namespace headwave
