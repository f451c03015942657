#include "hdf5_output.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <type_traits>

#include <fmt/format.h>

#include "../../core/errors/error.h"
#include "../files/printable.h"
#include "../files/unicode_text.h"

namespace headwave {

namespace {

/// A handle that the library gave for `what`.
Hdf5Handle made(hid_t id, Hdf5Handle::Close close, const std::string& what) {
  demand_hdf5(id >= 0, what);
  return {id, close};
}

Hdf5Handle creation_properties(hid_t kind, bool has_links) {
  constexpr unsigned order = H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED;
  Hdf5Handle properties = made(H5Pcreate(kind), H5Pclose, "/");
  demand_hdf5(H5Pset_attr_creation_order(properties.id(), order) >= 0 &&
                  H5Pset_obj_track_times(properties.id(), false) >= 0 &&
                  (!has_links || H5Pset_link_creation_order(properties.id(), order) >= 0),
              "/");
  return properties;
}

/// The type of UTF-8 texts of variable length.
Hdf5Handle text_type() {
  Hdf5Handle type = made(H5Tcopy(H5T_C_S1), H5Tclose, "the type of texts");
  demand_hdf5(H5Tset_size(type.id(), H5T_VARIABLE) >= 0 && H5Tset_cset(type.id(), H5T_CSET_UTF8) >= 0,
              "the type of texts");
  return type;
}

template <class Value>
Hdf5Handle type_of() {
  if constexpr (std::is_same_v<Value, std::string>) return text_type();
  if constexpr (std::is_same_v<Value, double>) return {H5Tcopy(H5T_IEEE_F64LE), H5Tclose};
  if constexpr (std::is_same_v<Value, std::int64_t>) return {H5Tcopy(H5T_STD_I64LE), H5Tclose};
  return {H5Tcopy(H5T_STD_U8LE), H5Tclose};
}

/// Hands a list to `write` in the form that the library takes: texts in UTF-8, as its readers insist, without zero bytes,
/// which would end them.
template <class Value, class Write>
void write_values(const std::vector<Value>& values, const Write& write) {
  if constexpr (std::is_same_v<Value, std::string>) {
    std::vector<std::string> texts;
    std::vector<const char*> characters;
    texts.reserve(values.size());
    for (const std::string& text : values) {
      std::string& valid = texts.emplace_back(valid_utf8(text));
      for (std::size_t at = 0; (at = valid.find('\0', at)) != valid.npos;) valid.replace(at, 1, "\u2400");
      characters.push_back(valid.c_str());
    }
    write(characters.data());
  } else {
    write(values.data());
  }
}

Hdf5Handle data_space(const std::string& name, const std::vector<Index>& shape) {
  if (shape.empty()) return made(H5Screate(H5S_SCALAR), H5Sclose, name);
  const std::vector<hsize_t> sizes(shape.begin(), shape.end());
  return made(H5Screate_simple(static_cast<int>(sizes.size()), sizes.data(), nullptr), H5Sclose, name);
}

}  // namespace

void demand_hdf5(bool done, const std::string& what) {
  if (!done) throw IoError(fmt::format("'{}' cannot be written: {}", printable(what), hdf5_reason()));
}

std::vector<Index> result_chunks(const std::vector<Index>& shape, std::size_t entry_bytes) {
  constexpr Index small_array = 4096, one_head = 1'000'000, several_heads = 65'536;
  Index bytes = static_cast<Index>(entry_bytes);
  for (const Index size : shape) bytes *= size;
  if (bytes <= small_array) return {};
  std::vector<Index> chunk(shape.size(), 1);
  Index used = static_cast<Index>(entry_bytes);
  for (std::size_t axis = shape.size(); axis-- > 0;) {
    const Index limit = axis + 2 >= shape.size() ? one_head : several_heads;
    chunk[axis] = std::clamp<Index>(limit / used, 1, shape[axis]);
    used *= chunk[axis];
    if (chunk[axis] < shape[axis]) break;
  }
  return chunk;
}

Hdf5Handle new_hdf5_file(const std::filesystem::path& path) {
  const Hdf5Handle creation = creation_properties(H5P_FILE_CREATE, true);
  const Hdf5Handle access = made(H5Pcreate(H5P_FILE_ACCESS), H5Pclose, "/");
  // The caller holds the lock of the file already, outside the library.
  demand_hdf5(H5Pset_libver_bounds(access.id(), H5F_LIBVER_V18, H5F_LIBVER_V18) >= 0 &&
                  H5Pset_file_locking(access.id(), false, true) >= 0,
              "/");
  return made(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, creation.id(), access.id()), H5Fclose, "/");
}

Hdf5Handle new_hdf5_group(hid_t file, const std::string& name) {
  const Hdf5Handle creation = creation_properties(H5P_GROUP_CREATE, true);
  return made(H5Gcreate2(file, name.c_str(), H5P_DEFAULT, creation.id(), H5P_DEFAULT), H5Gclose, name);
}

template <class Value>
Hdf5Handle new_hdf5_dataset(hid_t group, const std::string& name, const std::vector<Index>& shape,
                            const std::vector<Value>& values) {
  constexpr bool is_text = std::is_same_v<Value, std::string>;
  const Hdf5Handle type = type_of<Value>(), creation = creation_properties(H5P_DATASET_CREATE, false);
  const hid_t id = creation.id();
  // Texts lie in a heap: packing their addresses gains nothing.
  const std::vector<Index> chunk = is_text ? std::vector<Index>() : result_chunks(shape, sizeof(Value));
  if (const std::vector<hsize_t> sizes(chunk.begin(), chunk.end()); !sizes.empty())
    demand_hdf5(H5Pset_chunk(id, static_cast<int>(sizes.size()), sizes.data()) >= 0 &&
                    (sizeof(Value) == 1 || H5Pset_shuffle(id) >= 0) && H5Pset_deflate(id, 2) >= 0 &&
                    H5Pset_fletcher32(id) >= 0,
                name);
  constexpr double undefined = std::numeric_limits<double>::quiet_NaN();
  if constexpr (std::is_same_v<Value, double>)
    demand_hdf5(H5Pset_fill_value(id, H5T_NATIVE_DOUBLE, &undefined) >= 0, name);
  Hdf5Handle dataset =
      made(H5Dcreate2(group, name.c_str(), type.id(), data_space(name, shape).id(), H5P_DEFAULT, id, H5P_DEFAULT),
           H5Dclose, name);
  if (!values.empty())
    write_values(values, [&](const void* buffer) {
      demand_hdf5(H5Dwrite(dataset.id(), type.id(), H5S_ALL, H5S_ALL, H5P_DEFAULT, buffer) >= 0, name);
    });
  return dataset;
}

template Hdf5Handle new_hdf5_dataset(hid_t, const std::string&, const std::vector<Index>&, const std::vector<double>&);
template Hdf5Handle new_hdf5_dataset(hid_t, const std::string&, const std::vector<Index>&,
                                     const std::vector<std::int64_t>&);
template Hdf5Handle new_hdf5_dataset(hid_t, const std::string&, const std::vector<Index>&,
                                     const std::vector<std::uint8_t>&);
template Hdf5Handle new_hdf5_dataset(hid_t, const std::string&, const std::vector<Index>&,
                                     const std::vector<std::string>&);

void finish_hdf5(Hdf5Handle& object, const std::string& what) {
  const H5I_type_t kind = H5Iget_type(object.id());
  const herr_t flushed = kind == H5I_DATASET ? H5Dflush(object.id())
                         : kind == H5I_GROUP ? H5Gflush(object.id())
                                             : H5Fflush(object.id(), H5F_SCOPE_LOCAL);
  demand_hdf5(flushed >= 0, what);
  demand_hdf5(object.close(), what);
}

namespace {

void write_attribute(hid_t object, const std::string& name, hid_t type, const Hdf5Handle& space, const void* value) {
  Hdf5Handle attribute(H5Acreate2(object, name.c_str(), type, space.id(), H5P_DEFAULT, H5P_DEFAULT), H5Aclose);
  if (!attribute.valid() || (value != nullptr && H5Awrite(attribute.id(), type, value) < 0) || !attribute.close())
    throw IoError(fmt::format("attribute '{}' cannot be written: {}", printable(name), hdf5_reason()));
}

}  // namespace

template <class Value>
void write_hdf5_list(hid_t object, const std::string& name, const std::vector<Value>& values) {
  const Hdf5Handle type = type_of<Value>();
  // A list without entries has the null space, which netCDF and h5py show as an empty list.
  if (values.empty()) return write_attribute(object, name, type.id(), {H5Screate(H5S_NULL), H5Sclose}, nullptr);
  write_values(values, [&](const void* buffer) {
    write_attribute(object, name, type.id(), data_space(name, {std::ssize(values)}), buffer);
  });
}

template void write_hdf5_list(hid_t, const std::string&, const std::vector<std::string>&);
template void write_hdf5_list(hid_t, const std::string&, const std::vector<std::uint8_t>&);

void write_hdf5_attribute(hid_t object, const std::string& name, const Attribute& value) {
  const auto write_one = [&]<class Value>(const Value& one) {
    write_values(std::vector<Value>{one}, [&](const void* buffer) {
      write_attribute(object, name, type_of<Value>().id(), data_space(name, {}), buffer);
    });
  };
  if (const auto* list = std::get_if<std::vector<double>>(&value)) return write_hdf5_list(object, name, *list);
  if (const auto* text = std::get_if<std::string>(&value)) return write_one(*text);
  if (const auto* whole = std::get_if<std::int64_t>(&value)) return write_one(*whole);
  write_one(std::get<double>(value));
}

}  // namespace headwave
