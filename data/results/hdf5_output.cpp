#include "hdf5_output.h"

#include <cstdint>
#include <limits>
#include <type_traits>

#include <fmt/format.h>

#include "../../core/errors/error.h"
#include "../files/printable.h"
#include "../hdf5/hdf5_handle.h"
#include "result_layout.h"

namespace headwave {

namespace {

Hdf5Handle new_properties(hid_t kind) {
  Hdf5Handle properties(H5Pcreate(kind), H5Pclose);
  demand_hdf5(properties.valid(), "/");
  return properties;
}

Hdf5Handle creation_properties(hid_t kind, bool has_links) {
  constexpr unsigned order = H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED;
  Hdf5Handle properties = new_properties(kind);
  demand_hdf5(H5Pset_attr_creation_order(properties.id(), order) >= 0 &&
                  H5Pset_obj_track_times(properties.id(), false) >= 0 &&
                  (!has_links || H5Pset_link_creation_order(properties.id(), order) >= 0),
              "/");
  return properties;
}

/// How a dataset is stored.
struct DatasetLayout {
  std::vector<Index> chunk;  // empty: in one piece
  unsigned packing = 0;      // zlib's level; 0: not packed
  bool checksums = true;
};

Hdf5Handle dataset_properties(const std::string& name, std::size_t entry_bytes, const DatasetLayout& layout) {
  Hdf5Handle creation = creation_properties(H5P_DATASET_CREATE, false);
  if (layout.chunk.empty()) return creation;
  const std::vector<hsize_t> sizes(layout.chunk.begin(), layout.chunk.end());
  const hid_t id = creation.id();
  demand_hdf5(H5Pset_chunk(id, static_cast<int>(sizes.size()), sizes.data()) >= 0 &&
                  (layout.packing == 0 || entry_bytes == 1 || H5Pset_shuffle(id) >= 0) &&
                  (layout.packing == 0 || H5Pset_deflate(id, layout.packing) >= 0) &&
                  (!layout.checksums || H5Pset_fletcher32(id) >= 0),
              name);
  return creation;
}

Hdf5Handle data_space(const std::string& name, const std::vector<Index>& shape) {
  const std::vector<hsize_t> sizes(shape.begin(), shape.end());
  Hdf5Handle space(
      sizes.empty() ? H5Screate(H5S_SCALAR) : H5Screate_simple(static_cast<int>(sizes.size()), sizes.data(), nullptr),
      H5Sclose);
  demand_hdf5(space.valid(), name);
  return space;
}

template <class Value>
Hdf5Handle type_of() {
  if constexpr (std::is_same_v<Value, std::string>) return hdf5_text_type();
  if constexpr (std::is_same_v<Value, double>) return {H5Tcopy(H5T_IEEE_F64LE), H5Tclose};
  if constexpr (std::is_same_v<Value, std::int64_t>) return {H5Tcopy(H5T_STD_I64LE), H5Tclose};
  return {H5Tcopy(H5T_STD_U8LE), H5Tclose};
}

}  // namespace

void demand_hdf5(bool done, const std::string& what) {
  if (!done) throw IoError(fmt::format("'{}' cannot be written: {}", printable(what), hdf5_reason()));
}

Hdf5Handle new_hdf5_file(const std::filesystem::path& path) {
  const Hdf5Handle creation = creation_properties(H5P_FILE_CREATE, true);
  const Hdf5Handle access = new_properties(H5P_FILE_ACCESS);
  demand_hdf5(H5Pset_libver_bounds(access.id(), H5F_LIBVER_V18, H5F_LIBVER_V18) >= 0, "/");
  // The caller holds the lock of the file already, outside the library.
  demand_hdf5(H5Pset_file_locking(access.id(), false, true) >= 0, "/");
  Hdf5Handle file(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, creation.id(), access.id()), H5Fclose);
  demand_hdf5(file.valid(), "/");
  return file;
}

Hdf5Handle new_hdf5_group(hid_t file, const std::string& name) {
  const Hdf5Handle creation = creation_properties(H5P_GROUP_CREATE, true);
  Hdf5Handle group(H5Gcreate2(file, name.c_str(), H5P_DEFAULT, creation.id(), H5P_DEFAULT), H5Gclose);
  demand_hdf5(group.valid(), name);
  return group;
}

template <class Value>
Hdf5Handle new_hdf5_dataset(hid_t group, const std::string& name, const std::vector<Index>& shape,
                            const std::vector<Value>& values) {
  const Hdf5Handle type = type_of<Value>();
  // Texts of variable length lie in a heap: packing their addresses gains nothing.
  DatasetLayout layout{{}, result_packing};
  if (!std::is_same_v<Value, std::string>) layout.chunk = result_chunks(shape, sizeof(Value));
  const Hdf5Handle creation = dataset_properties(name, sizeof(Value), layout);
  if constexpr (std::is_same_v<Value, double>) {
    constexpr double undefined = std::numeric_limits<double>::quiet_NaN();
    demand_hdf5(H5Pset_fill_value(creation.id(), H5T_NATIVE_DOUBLE, &undefined) >= 0, name);
  }
  const Hdf5Handle space = data_space(name, shape);
  Hdf5Handle dataset(H5Dcreate2(group, name.c_str(), type.id(), space.id(), H5P_DEFAULT, creation.id(), H5P_DEFAULT),
                     H5Dclose);
  demand_hdf5(dataset.valid(), name);
  if (values.empty()) return dataset;
  const auto write = [&](const void* buffer) {
    demand_hdf5(H5Dwrite(dataset.id(), type.id(), H5S_ALL, H5S_ALL, H5P_DEFAULT, buffer) >= 0, name);
  };
  if constexpr (std::is_same_v<Value, std::string>)
    write(Hdf5Texts(values).data());
  else
    write(values.data());
  return dataset;
}

template Hdf5Handle new_hdf5_dataset(hid_t, const std::string&, const std::vector<Index>&, const std::vector<double>&);
template Hdf5Handle new_hdf5_dataset(hid_t, const std::string&, const std::vector<Index>&,
                                     const std::vector<std::int64_t>&);
template Hdf5Handle new_hdf5_dataset(hid_t, const std::string&, const std::vector<Index>&,
                                     const std::vector<std::uint8_t>&);
template Hdf5Handle new_hdf5_dataset(hid_t, const std::string&, const std::vector<Index>&,
                                     const std::vector<std::string>&);

namespace {

Hdf5Handle stored_type(RowType type) {
  switch (type) {
    case RowType::float32:
      return {H5Tcopy(H5T_IEEE_F32LE), H5Tclose};
    case RowType::float16:
      return hdf5_half_type();
    case RowType::id:
      return {H5Tcopy(H5T_STD_I32LE), H5Tclose};
    case RowType::flag:
      return type_of<std::uint8_t>();
    default:
      return type_of<std::string>();
  }
}

/// The memory type of the values that append_hdf5_row() gets.
Hdf5Handle given_type(hid_t stored) {
  switch (H5Tget_class(stored)) {
    case H5T_FLOAT:
      return {H5Tcopy(H5T_NATIVE_FLOAT), H5Tclose};
    case H5T_INTEGER:
      return {H5Tcopy(H5Tget_size(stored) == 1 ? H5T_NATIVE_UINT8 : H5T_NATIVE_INT32), H5Tclose};
    default:
      return hdf5_text_type();
  }
}

}  // namespace

Hdf5Handle new_hdf5_rows(hid_t group, const std::string& name, const std::vector<Index>& entry, RowType type,
                         unsigned packing) {
  const Hdf5Handle stored = stored_type(type);
  const bool is_text = type == RowType::text;
  const std::size_t bytes = H5Tget_size(stored.id());
  std::vector<Index> chunk = result_chunks(entry, bytes);
  if (chunk.empty()) chunk = entry;
  chunk.insert(chunk.begin(), 1);
  const Hdf5Handle creation = dataset_properties(name, bytes, {chunk, is_text ? 0 : packing, !is_text});
  std::vector<hsize_t> start(entry.begin(), entry.end());
  start.insert(start.begin(), 0);
  std::vector<hsize_t> most = start;
  most.front() = H5S_UNLIMITED;
  const Hdf5Handle space(H5Screate_simple(static_cast<int>(start.size()), start.data(), most.data()), H5Sclose);
  demand_hdf5(space.valid(), name);
  Hdf5Handle dataset(H5Dcreate2(group, name.c_str(), stored.id(), space.id(), H5P_DEFAULT, creation.id(), H5P_DEFAULT),
                     H5Dclose);
  demand_hdf5(dataset.valid(), name);
  return dataset;
}

void append_hdf5_row(const Hdf5Handle& dataset, const std::string& name, const void* values) {
  const Hdf5Handle before(H5Dget_space(dataset.id()), H5Sclose);
  demand_hdf5(before.valid(), name);
  std::vector<hsize_t> shape(static_cast<std::size_t>(H5Sget_simple_extent_ndims(before.id())));
  demand_hdf5(H5Sget_simple_extent_dims(before.id(), shape.data(), nullptr) >= 0, name);
  std::vector<hsize_t> at(shape.size(), 0), count = shape;
  at.front() = shape.front();
  count.front() = 1;
  ++shape.front();
  demand_hdf5(H5Dset_extent(dataset.id(), shape.data()) >= 0, name);
  const Hdf5Handle space(H5Dget_space(dataset.id()), H5Sclose);
  const Hdf5Handle memory(H5Screate_simple(static_cast<int>(count.size()), count.data(), nullptr), H5Sclose);
  demand_hdf5(space.valid() && memory.valid() &&
                  H5Sselect_hyperslab(space.id(), H5S_SELECT_SET, at.data(), nullptr, count.data(), nullptr) >= 0,
              name);
  const Hdf5Handle stored(H5Dget_type(dataset.id()), H5Tclose);
  demand_hdf5(stored.valid(), name);
  const Hdf5Handle given = given_type(stored.id());
  demand_hdf5(H5Dwrite(dataset.id(), given.id(), memory.id(), space.id(), H5P_DEFAULT, values) >= 0, name);
}

void finish_hdf5(Hdf5Handle& object, const std::string& what) {
  const H5I_type_t kind = H5Iget_type(object.id());
  const herr_t flushed = kind == H5I_DATASET ? H5Dflush(object.id())
                         : kind == H5I_GROUP ? H5Gflush(object.id())
                                             : H5Fflush(object.id(), H5F_SCOPE_LOCAL);
  demand_hdf5(flushed >= 0, what);
  demand_hdf5(object.close(), what);
}

}  // namespace headwave
