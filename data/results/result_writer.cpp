#include <algorithm>
#include <cstdint>
#include <limits>
#include <numeric>
#include <set>
#include <type_traits>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <hdf5_hl.h>

#include "../../core/errors/error.h"
#include "../../core/process/threads.h"
#include "../files/printable.h"
#include "../files/replaced_file.h"
#include "../files/unicode_text.h"
#include "../hdf5/hdf5_handle.h"
#include "result_file.h"

namespace headwave {

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

namespace {

// The library keeps data until an object is flushed or closed, and only then notices a full disk. So every
// object made here must end in finish(), which reports that. Only handles of a file that is given up close by
// themselves.

/// @throws IoError naming what could not be written, with the library's reason, if `done` is false
void demand(bool done, const std::string& what) {
  if (!done) throw IoError(fmt::format("'{}' cannot be written: {}", printable(what), hdf5_reason()));
}

/// Wraps an identifier made for `what`; throws if the library failed.
Hdf5Handle made(hid_t id, Hdf5Handle::Close close, const std::string& what) {
  demand(id >= 0, what);
  return {id, close};
}

Hdf5Handle creation_properties(hid_t kind, bool has_links) {
  constexpr unsigned order = H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED;
  Hdf5Handle properties = made(H5Pcreate(kind), H5Pclose, "/");
  demand(H5Pset_attr_creation_order(properties.id(), order) >= 0 &&
             H5Pset_obj_track_times(properties.id(), false) >= 0 &&
             (!has_links || H5Pset_link_creation_order(properties.id(), order) >= 0),
         "/");
  return properties;
}

/// The type of UTF-8 texts of variable length.
Hdf5Handle text_type() {
  Hdf5Handle type = made(H5Tcopy(H5T_C_S1), H5Tclose, "the type of texts");
  demand(H5Tset_size(type.id(), H5T_VARIABLE) >= 0 && H5Tset_cset(type.id(), H5T_CSET_UTF8) >= 0, "the type of texts");
  return type;
}

template <class Value>
Hdf5Handle type_of() {
  if constexpr (std::is_same_v<Value, std::string>) return text_type();
  if constexpr (std::is_same_v<Value, double>) return {H5Tcopy(H5T_IEEE_F64LE), H5Tclose};
  if constexpr (std::is_same_v<Value, std::int64_t>) return {H5Tcopy(H5T_STD_I64LE), H5Tclose};
  return {H5Tcopy(H5T_STD_U8LE), H5Tclose};
}

/// Passes a list to `write` as the library wants it. Texts are made valid UTF-8, as its readers demand,
/// without zero bytes, which would end them.
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

/// Creates a file in the format of HDF5 1.8. It records the order of creation, as netCDF-4 demands, but no
/// times, so that equal content gives equal files.
Hdf5Handle new_file(const std::filesystem::path& path) {
  const Hdf5Handle creation = creation_properties(H5P_FILE_CREATE, true);
  const Hdf5Handle access = made(H5Pcreate(H5P_FILE_ACCESS), H5Pclose, "/");
  // The caller already holds the file's lock, outside the library.
  demand(H5Pset_libver_bounds(access.id(), H5F_LIBVER_V18, H5F_LIBVER_V18) >= 0 &&
             H5Pset_file_locking(access.id(), false, true) >= 0,
         "/");
  return made(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, creation.id(), access.id()), H5Fclose, "/");
}

Hdf5Handle new_group(hid_t file, const std::string& name) {
  const Hdf5Handle creation = creation_properties(H5P_GROUP_CREATE, true);
  return made(H5Gcreate2(file, name.c_str(), H5P_DEFAULT, creation.id(), H5P_DEFAULT), H5Gclose, name);
}

/// Creates a dataset with its values, stored as write_result() says.
/// @tparam Value  double, std::int64_t, std::uint8_t or std::string
/// @param values  row-major
template <class Value>
Hdf5Handle new_dataset(hid_t group, const std::string& name, const std::vector<Index>& shape,
                       const std::vector<Value>& values) {
  constexpr bool is_text = std::is_same_v<Value, std::string>;
  const Hdf5Handle type = type_of<Value>(), creation = creation_properties(H5P_DATASET_CREATE, false);
  const hid_t id = creation.id();
  // Texts lie in a heap, and compressing their addresses gains nothing.
  const std::vector<Index> chunk = is_text ? std::vector<Index>() : result_chunks(shape, sizeof(Value));
  if (const std::vector<hsize_t> sizes(chunk.begin(), chunk.end()); !sizes.empty())
    demand(H5Pset_chunk(id, static_cast<int>(sizes.size()), sizes.data()) >= 0 &&
               (sizeof(Value) == 1 || H5Pset_shuffle(id) >= 0) && H5Pset_deflate(id, 2) >= 0 &&
               H5Pset_fletcher32(id) >= 0,
           name);
  constexpr double undefined = std::numeric_limits<double>::quiet_NaN();
  if constexpr (std::is_same_v<Value, double>) demand(H5Pset_fill_value(id, H5T_NATIVE_DOUBLE, &undefined) >= 0, name);
  Hdf5Handle dataset =
      made(H5Dcreate2(group, name.c_str(), type.id(), data_space(name, shape).id(), H5P_DEFAULT, id, H5P_DEFAULT),
           H5Dclose, name);
  if (!values.empty())
    write_values(values, [&](const void* buffer) {
      demand(H5Dwrite(dataset.id(), type.id(), H5S_ALL, H5S_ALL, H5P_DEFAULT, buffer) >= 0, name);
    });
  return dataset;
}

/// Flushes a dataset, group or file to the system, and closes it.
void finish(Hdf5Handle& object, const std::string& what) {
  const H5I_type_t kind = H5Iget_type(object.id());
  const herr_t flushed = kind == H5I_DATASET ? H5Dflush(object.id())
                         : kind == H5I_GROUP ? H5Gflush(object.id())
                                             : H5Fflush(object.id(), H5F_SCOPE_LOCAL);
  demand(flushed >= 0, what);
  demand(object.close(), what);
}

/// @param value  null: no entries
void write_stored(hid_t object, const std::string& name, hid_t type, const Hdf5Handle& space, const void* value) {
  Hdf5Handle attribute(H5Acreate2(object, name.c_str(), type, space.id(), H5P_DEFAULT, H5P_DEFAULT), H5Aclose);
  if (!attribute.valid() || (value != nullptr && H5Awrite(attribute.id(), type, value) < 0) || !attribute.close())
    throw IoError(fmt::format("attribute '{}' cannot be written: {}", printable(name), hdf5_reason()));
}

template <class Value>
void write_list(hid_t object, const std::string& name, const std::vector<Value>& values) {
  const Hdf5Handle type = type_of<Value>();
  // An empty list gets the null space, which netCDF and h5py show as an empty list.
  if (values.empty()) return write_stored(object, name, type.id(), {H5Screate(H5S_NULL), H5Sclose}, nullptr);
  write_values(values, [&](const void* buffer) {
    write_stored(object, name, type.id(), data_space(name, {std::ssize(values)}), buffer);
  });
}

/// Writes one attribute: numbers as float64 or int64, texts as UTF-8 without zero bytes.
void write_attribute(hid_t object, const std::string& name, const Attribute& value) {
  const auto write_one = [&]<class Value>(const Value& one) {
    write_values(std::vector<Value>{one}, [&](const void* buffer) {
      write_stored(object, name, type_of<Value>().id(), data_space(name, {}), buffer);
    });
  };
  if (const auto* list = std::get_if<std::vector<double>>(&value)) return write_list(object, name, *list);
  if (const auto* text = std::get_if<std::string>(&value)) return write_one(*text);
  if (const auto* whole = std::get_if<std::int64_t>(&value)) return write_one(*whole);
  write_one(std::get<double>(value));
}

/// One analysis in the file: its Fields in order, and all their axes.
struct ResultGroup {
  std::string name;
  std::vector<const Axis*> axes;  // in order of first use
  std::vector<const Field*> fields;

  /// The Field that a viewer should draw: the first numeric one with axes, or else the first.
  [[nodiscard]] const Field& signal() const {
    const auto is_drawable = [](const Field* field) {
      return !field->axes.empty() && !std::holds_alternative<std::vector<std::string>>(field->values);
    };
    const auto found = std::ranges::find_if(fields, is_drawable);
    return found == fields.end() ? *fields.front() : **found;
  }
};

[[noreturn]] void refuse(const std::string& name, const std::string& problem) {
  throw ShapeError(fmt::format("write_result: '{}': {}", printable(name), problem));
}

void check_field(const Field& field) {
  if (std::ranges::count(field.name, '/') != 1 || field.group() == "provenance")
    refuse(field.name, "a Field's name must be 'group/quantity', and the group not 'provenance'");
  const auto count = std::visit([](const auto& list) { return static_cast<Index>(list.size()); }, field.values);
  if (count != field.size())
    refuse(field.name, fmt::format("its axes span {} entries, but it has {} values", field.size(), count));
}

void add_axes(ResultGroup& group, const Field& field) {
  for (const Axis& axis : field.axes) {
    const auto known = std::ranges::find(group.axes, axis.name, [](const Axis* a) { return a->name; });
    if (known == group.axes.end())
      group.axes.push_back(&axis);
    else if ((*known)->unit != axis.unit || (*known)->values != axis.values)
      refuse(field.name, fmt::format("the axis '{}' has other values or another unit than elsewhere in '{}': rename it",
                                     axis.name, group.name));
  }
}

/// The groups of a result in order of first use, checked. They point into the result.
std::vector<ResultGroup> result_groups(const Result& result) {
  std::vector<ResultGroup> groups;
  std::set<std::string> names;
  for (const Field& field : result.fields) {
    check_field(field);
    if (!names.insert(field.name).second) refuse(field.name, "two Fields have this name");
    auto group = std::ranges::find(groups, field.group(), &ResultGroup::name);
    if (group == groups.end()) group = groups.insert(groups.end(), ResultGroup{field.group(), {}, {}});
    group->fields.push_back(&field);
    add_axes(*group, field);
  }
  for (const ResultGroup& group : groups)
    for (const Axis* axis : group.axes)
      if (const std::string name = group.name + "/" + axis->name; names.contains(name))
        refuse(name, "a Field and an axis have this name: rename one");
  return groups;
}

void write_flags(hid_t dataset, const std::vector<std::string>& meanings) {
  // CF separates meanings by blanks, so blanks inside one become underscores; flag_labels has the original.
  std::vector<std::string> words = meanings;
  for (std::string& word : words) std::ranges::replace(word, ' ', '_');
  write_attribute(dataset, "flag_meanings", fmt::format("{}", fmt::join(words, " ")));
  write_list(dataset, "flag_labels", meanings);
  std::vector<std::uint8_t> values(meanings.size());
  std::iota(values.begin(), values.end(), std::uint8_t{0});
  write_list(dataset, "flag_values", values);
}

Hdf5Handle written_axis(hid_t group, const Axis& axis) {
  Hdf5Handle dataset =
      std::visit([&](const auto& values) { return new_dataset(group, axis.name, {axis.size()}, values); }, axis.values);
  demand(H5DSset_scale(dataset.id(), axis.name.c_str()) >= 0, axis.name);
  write_attribute(dataset.id(), "long_name", axis.long_name);
  write_attribute(dataset.id(), "units", axis.unit);
  return dataset;
}

Hdf5Handle written_field(hid_t group, const Field& field) {
  std::vector<Index> shape;
  for (const Axis& axis : field.axes) shape.push_back(axis.size());
  Hdf5Handle dataset =
      std::visit([&](const auto& values) { return new_dataset(group, field.quantity(), shape, values); }, field.values);
  write_attribute(dataset.id(), "long_name", field.long_name);
  write_attribute(dataset.id(), "units", field.unit);
  if (std::holds_alternative<std::vector<double>>(field.values))
    write_attribute(dataset.id(), "_FillValue", std::vector<double>{std::numeric_limits<double>::quiet_NaN()});
  if (!field.flag_meanings.empty()) write_flags(dataset.id(), field.flag_meanings);
  for (const auto& [name, value] : field.attributes) write_attribute(dataset.id(), name, value);
  return dataset;
}

void write_group(hid_t file, const ResultGroup& content) {
  Hdf5Handle group = new_group(file, content.name);
  const Field& signal = content.signal();
  write_attribute(group.id(), "NX_class", "NXdata");
  write_attribute(group.id(), "signal", signal.quantity());
  std::vector<std::string> signal_axes;
  for (const Axis& axis : signal.axes) signal_axes.push_back(axis.name);
  if (!signal_axes.empty()) write_list(group.id(), "axes", signal_axes);

  std::map<std::string, Hdf5Handle> scales;
  for (const Axis* axis : content.axes) scales.emplace(axis->name, written_axis(group.id(), *axis));
  for (const Field* field : content.fields) {
    stop_if_asked();
    Hdf5Handle dataset = written_field(group.id(), *field);
    for (unsigned i = 0; i < field->axes.size(); ++i)
      demand(H5DSattach_scale(dataset.id(), scales.at(field->axes[i].name).id(), i) >= 0, field->name);
    finish(dataset, field->name);
  }
  for (auto& [name, scale] : scales) finish(scale, content.name + "/" + name);
  finish(group, content.name);
}

void write_root(hid_t file, const Result& result, const std::vector<ResultGroup>& groups) {
  write_attribute(file, "title", result.title);
  write_attribute(file, "Conventions", "CF-1.8");
  write_attribute(file, "source", "headwave " + attribute_text(result.provenance, "version", "(version unknown)"));
  write_attribute(file, "history", attribute_text(result.provenance, "command"));
  write_attribute(
      file, "references",
      "Yamamoto and Matsuzaki 2023: Absolute Position Embedding Learns Sinusoid-like Waves for Attention Based on "
      "Relative Position, EMNLP 2023");
  write_attribute(file, "schema_version", std::int64_t{result_schema_version});
  std::vector<std::string> names;
  for (const Field& field : result.fields) names.push_back(field.name);
  write_list(file, "fields", names);
  write_attribute(file, "NX_class", "NXroot");
  if (!groups.empty()) write_attribute(file, "default", groups.front().name);
}

/// Writes everything, and `complete` last.
void fill_file(Hdf5Handle& file, const Result& result, const std::vector<ResultGroup>& groups) {
  write_root(file.id(), result, groups);
  for (const ResultGroup& group : groups) write_group(file.id(), group);
  Hdf5Handle provenance = new_group(file.id(), "provenance");
  write_attribute(provenance.id(), "NX_class", "NXcollection");
  for (const auto& [name, value] : result.provenance) write_attribute(provenance.id(), name, value);
  finish(provenance, "provenance");
  demand(H5Fflush(file.id(), H5F_SCOPE_LOCAL) >= 0, "/");
  write_attribute(file.id(), "complete", std::int64_t{1});
  finish(file, "/");
}

void write_file(const Result& result, const std::vector<ResultGroup>& groups, const std::filesystem::path& path) {
  Hdf5Handle file = new_file(path);
  try {
    fill_file(file, result, groups);
  } catch (const Stopped&) {
    throw;  // nothing is broken
  } catch (...) {
    // The library (1.14 at least) flushes once more when it closes a file that it could not write, and
    // crashes. So the handle stays open; the file is removed, and the program is about to report the error.
    file.abandon();
    throw;
  }
}

}  // namespace

void write_result(const Result& result, const ReplacedFile& file) {
  const std::vector<ResultGroup> groups = result_groups(result);
  try {
    const Hdf5Session session;
    write_file(result, groups, file.temporary());
    file.seal();
  } catch (const IoError& problem) {
    throw IoError(fmt::format("{}: {}", shown_path(file.path()), problem.what()));
  }
}

void write_result(const Result& result, const std::filesystem::path& path) {
  ReplacedFile replaced(path);
  write_result(result, replaced);
  replaced.commit();
}

}  // namespace headwave
