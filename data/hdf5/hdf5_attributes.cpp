#include "hdf5_attributes.h"

#include <cstdint>
#include <limits>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "../../core/errors/error.h"
#include "../files/printable.h"
#include "hdf5_type.h"

namespace headwave {

namespace {

constexpr std::size_t most_numbers = 4096;
constexpr std::size_t most_text = std::size_t{16} << 20U;
constexpr std::size_t most_attributes = 10'000;

std::vector<std::string> texts_of(hid_t attribute, hid_t type, hid_t space) {
  return hdf5_strings(type, space, most_text,
                      [attribute](hid_t memory, void* buffer) { return H5Aread(attribute, memory, buffer) >= 0; });
}

template <class Number>
std::vector<Number> numbers_of(hid_t attribute, hid_t memory, std::size_t entries) {
  std::vector<Number> numbers(entries);
  if (entries > 0 && H5Aread(attribute, memory, numbers.data()) < 0) throw FormatError(hdf5_reason());
  return numbers;
}

bool fits_int64(hid_t type) {
  return H5Tget_class(type) != H5T_FLOAT && (H5Tget_size(type) < 8 || H5Tget_sign(type) != H5T_SGN_NONE);
}

Attribute value_of(hid_t attribute) {
  const Hdf5Handle type(H5Aget_type(attribute), H5Tclose);
  const Hdf5Handle space(H5Aget_space(attribute), H5Sclose);
  if (!type.valid() || !space.valid()) return "(cannot be read)";
  const Hdf5Extent extent = hdf5_extent(space.id());
  if (H5Tget_class(type.id()) == H5T_STRING)
    return fmt::format("{}", fmt::join(texts_of(attribute, type.id(), space.id()), ", "));
  if (!hdf5_is_number(type.id()) || extent.entries > most_numbers)
    return extent.scalar ? fmt::format("({})", hdf5_type_text(type.id()))
                         : fmt::format("({}, {} entries)", hdf5_type_text(type.id()), extent.entries);
  if (!extent.scalar) return numbers_of<double>(attribute, H5T_NATIVE_DOUBLE, extent.entries);
  if (fits_int64(type.id())) return numbers_of<std::int64_t>(attribute, H5T_NATIVE_INT64, 1).front();
  return numbers_of<double>(attribute, H5T_NATIVE_DOUBLE, 1).front();
}

std::vector<std::string> attribute_names(hid_t object) {
  std::vector<std::string> names;
  const auto keep = [](hid_t, const char* name, const H5A_info_t*, void* list) -> herr_t {
    auto& kept = *static_cast<std::vector<std::string>*>(list);
    if (kept.size() >= most_attributes) return 1;
    try {
      kept.emplace_back(name);
    } catch (...) {
      return -1;  // no exception may cross the C library
    }
    return 0;
  };
  // Attributes that were found before the library failed are still worth showing.
  H5Aiterate2(object, H5_INDEX_NAME, H5_ITER_NATIVE, nullptr, keep, &names);
  return names;
}

void write(hid_t object, const std::string& name, hid_t type, hid_t space, const void* value) {
  Hdf5Handle attribute(H5Acreate2(object, name.c_str(), type, space, H5P_DEFAULT, H5P_DEFAULT), H5Aclose);
  if (!attribute.valid() || (value != nullptr && H5Awrite(attribute.id(), type, value) < 0) || !attribute.close())
    throw IoError(fmt::format("attribute '{}' cannot be written: {}", printable(name), hdf5_reason()));
}

Hdf5Handle list_space(std::size_t entries) {
  const hsize_t size = entries;
  // A list without entries has the null space, which netCDF and h5py show as an empty list.
  return {entries == 0 ? H5Screate(H5S_NULL) : H5Screate_simple(1, &size, nullptr), H5Sclose};
}

}  // namespace

Attributes hdf5_attributes(hid_t object) {
  Attributes attributes;
  for (const std::string& name : attribute_names(object)) {
    const Hdf5Handle attribute(H5Aopen(object, name.c_str(), H5P_DEFAULT), H5Aclose);
    try {
      attributes[name] = attribute.valid() ? value_of(attribute.id()) : "(cannot be read)";
    } catch (const FormatError&) {
      attributes[name] = "(cannot be read)";
    }
  }
  return attributes;
}

std::vector<std::string> hdf5_attribute_texts(hid_t object, const std::string& name) {
  if (H5Aexists(object, name.c_str()) <= 0) return {};
  const Hdf5Handle attribute(H5Aopen(object, name.c_str(), H5P_DEFAULT), H5Aclose);
  const Hdf5Handle type(H5Aget_type(attribute.id()), H5Tclose);
  const Hdf5Handle space(H5Aget_space(attribute.id()), H5Sclose);
  if (!type.valid() || !space.valid() || H5Tget_class(type.id()) != H5T_STRING)
    throw FormatError(fmt::format("attribute '{}' must be text", printable(name)));
  return texts_of(attribute.id(), type.id(), space.id());
}

void write_hdf5_attribute(hid_t object, const std::string& name, const Attribute& value) {
  const Hdf5Handle scalar(H5Screate(H5S_SCALAR), H5Sclose);
  if (const auto* text = std::get_if<std::string>(&value)) {
    write(object, name, hdf5_text_type().id(), scalar.id(), Hdf5Texts({*text}).data());
  } else if (const auto* whole = std::get_if<std::int64_t>(&value)) {
    write(object, name, H5T_NATIVE_INT64, scalar.id(), whole);
  } else if (const auto* real = std::get_if<double>(&value)) {
    write(object, name, H5T_NATIVE_DOUBLE, scalar.id(), real);
  } else {
    const auto& list = std::get<std::vector<double>>(value);
    write(object, name, H5T_NATIVE_DOUBLE, list_space(list.size()).id(), list.empty() ? nullptr : list.data());
  }
}

void write_hdf5_attribute_texts(hid_t object, const std::string& name, const std::vector<std::string>& texts) {
  write(object, name, hdf5_text_type().id(), list_space(texts.size()).id(),
        texts.empty() ? nullptr : Hdf5Texts(texts).data());
}

void write_hdf5_attribute_bytes(hid_t object, const std::string& name, const std::vector<std::uint8_t>& values) {
  write(object, name, H5T_NATIVE_UINT8, list_space(values.size()).id(), values.empty() ? nullptr : values.data());
}

}  // namespace headwave
