#include <algorithm>
#include <limits>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <hdf5_hl.h>

#include "headwave/core/error.h"
#include "headwave/data/hdf5_attributes.h"
#include "headwave/data/hdf5_handle.h"
#include "headwave/data/printable.h"
#include "headwave/data/replaced_file.h"
#include "headwave/data/result_file.h"
#include "headwave/data/result_layout.h"
#include "headwave/data/unicode_text.h"

namespace headwave {

namespace {

void demand(bool done, const std::string& what) {
  if (!done) throw IoError(fmt::format("'{}' cannot be written: {}: is the disk full?", what, hdf5_reason()));
}

// HDF5 texts end at a zero byte, and their readers insist on UTF-8.
std::string stored_text(const std::string& text) {
  std::string valid = valid_utf8(text);
  for (std::size_t at = valid.find('\0'); at != valid.npos; at = valid.find('\0', at)) valid.replace(at, 1, "\u2400");
  return valid;
}

std::vector<std::string> stored_texts(const std::vector<std::string>& texts) {
  std::vector<std::string> stored;
  stored.reserve(texts.size());
  for (const std::string& text : texts) stored.push_back(stored_text(text));
  return stored;
}

void write_attribute(hid_t object, const std::string& name, const Attribute& value) {
  const auto* text = std::get_if<std::string>(&value);
  write_hdf5_attribute(object, name, text != nullptr ? Attribute(stored_text(*text)) : value);
}

// netCDF-4 wants the order of creation known, and times would make equal results differ.
void set_order_and_no_times(hid_t properties, bool has_links) {
  H5Pset_attr_creation_order(properties, H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED);
  H5Pset_obj_track_times(properties, false);
  if (has_links) H5Pset_link_creation_order(properties, H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED);
}

Hdf5Handle created_file(const std::filesystem::path& path) {
  const Hdf5Handle creation(H5Pcreate(H5P_FILE_CREATE), H5Pclose);
  set_order_and_no_times(creation.id(), true);
  const Hdf5Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
  H5Pset_libver_bounds(access.id(), H5F_LIBVER_V18, H5F_LIBVER_V18);
  Hdf5Handle file(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, creation.id(), access.id()), H5Fclose);
  demand(file.valid(), "/");
  return file;
}

Hdf5Handle created_group(hid_t file, const std::string& name) {
  const Hdf5Handle creation(H5Pcreate(H5P_GROUP_CREATE), H5Pclose);
  set_order_and_no_times(creation.id(), true);
  Hdf5Handle group(H5Gcreate2(file, name.c_str(), H5P_DEFAULT, creation.id(), H5P_DEFAULT), H5Gclose);
  demand(group.valid(), name);
  return group;
}

template <class Value>
hid_t plain_type() {
  if constexpr (std::is_same_v<Value, double>) return H5T_IEEE_F64LE;
  if constexpr (std::is_same_v<Value, std::int64_t>) return H5T_STD_I64LE;
  return H5T_STD_U8LE;
}

Hdf5Handle dataset_properties(const std::vector<Index>& shape, std::size_t entry_bytes) {
  Hdf5Handle creation(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
  set_order_and_no_times(creation.id(), false);
  const std::vector<Index> chunks = result_chunks(shape, entry_bytes);
  if (chunks.empty()) return creation;
  const std::vector<hsize_t> sizes(chunks.begin(), chunks.end());
  H5Pset_chunk(creation.id(), static_cast<int>(sizes.size()), sizes.data());
  if (entry_bytes > 1) H5Pset_shuffle(creation.id());
  H5Pset_deflate(creation.id(), 2);
  H5Pset_fletcher32(creation.id());
  return creation;
}

Hdf5Handle data_space(const std::vector<Index>& shape) {
  const std::vector<hsize_t> sizes(shape.begin(), shape.end());
  return {
      sizes.empty() ? H5Screate(H5S_SCALAR) : H5Screate_simple(static_cast<int>(sizes.size()), sizes.data(), nullptr),
      H5Sclose};
}

Hdf5Handle dataset_of(hid_t group, const std::string& name, const std::vector<Index>& shape,
                      const std::vector<std::string>& texts) {
  Hdf5Handle type(H5Tcopy(H5T_C_S1), H5Tclose);
  H5Tset_size(type.id(), H5T_VARIABLE);
  H5Tset_cset(type.id(), H5T_CSET_UTF8);
  const Hdf5Handle creation = dataset_properties({}, 1);
  Hdf5Handle dataset(
      H5Dcreate2(group, name.c_str(), type.id(), data_space(shape).id(), H5P_DEFAULT, creation.id(), H5P_DEFAULT),
      H5Dclose);
  demand(dataset.valid(), name);
  const std::vector<std::string> stored = stored_texts(texts);
  std::vector<const char*> characters;
  for (const std::string& text : stored) characters.push_back(text.c_str());
  demand(texts.empty() || H5Dwrite(dataset.id(), type.id(), H5S_ALL, H5S_ALL, H5P_DEFAULT, characters.data()) >= 0,
         name);
  return dataset;
}

template <class Value>
Hdf5Handle dataset_of(hid_t group, const std::string& name, const std::vector<Index>& shape,
                      const std::vector<Value>& values) {
  const hid_t type = plain_type<Value>();
  const Hdf5Handle creation = dataset_properties(shape, sizeof(Value));
  if constexpr (std::is_same_v<Value, double>) {
    constexpr double undefined = std::numeric_limits<double>::quiet_NaN();
    H5Pset_fill_value(creation.id(), H5T_NATIVE_DOUBLE, &undefined);
  }
  Hdf5Handle dataset(
      H5Dcreate2(group, name.c_str(), type, data_space(shape).id(), H5P_DEFAULT, creation.id(), H5P_DEFAULT), H5Dclose);
  demand(dataset.valid(), name);
  demand(values.empty() || H5Dwrite(dataset.id(), type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()) >= 0, name);
  return dataset;
}

void write_flags(hid_t dataset, const std::vector<std::string>& meanings) {
  // CF separates meanings by blanks, so a meaning of several words is joined there and stands as it is in flag_labels.
  std::vector<std::string> words = meanings;
  for (std::string& word : words) std::ranges::replace(word, ' ', '_');
  write_attribute(dataset, "flag_meanings", fmt::format("{}", fmt::join(words, " ")));
  write_hdf5_attribute_texts(dataset, "flag_labels", stored_texts(meanings));
  std::vector<std::uint8_t> values(meanings.size());
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<std::uint8_t>(i);
  write_hdf5_attribute_bytes(dataset, "flag_values", values);
}

Hdf5Handle written_axis(hid_t group, const Axis& axis) {
  Hdf5Handle dataset =
      std::visit([&](const auto& values) { return dataset_of(group, axis.name, {axis.size()}, values); }, axis.values);
  demand(H5DSset_scale(dataset.id(), axis.name.c_str()) >= 0, axis.name);
  write_attribute(dataset.id(), "long_name", axis.long_name);
  write_attribute(dataset.id(), "units", axis.unit);
  return dataset;
}

Hdf5Handle written_field(hid_t group, const Field& field) {
  std::vector<Index> shape;
  for (const Axis& axis : field.axes) shape.push_back(axis.size());
  Hdf5Handle dataset =
      std::visit([&](const auto& values) { return dataset_of(group, field.quantity(), shape, values); }, field.values);
  write_attribute(dataset.id(), "long_name", field.long_name);
  write_attribute(dataset.id(), "units", field.unit);
  if (std::holds_alternative<std::vector<double>>(field.values))
    write_attribute(dataset.id(), "_FillValue", std::vector<double>{std::numeric_limits<double>::quiet_NaN()});
  if (!field.flag_meanings.empty()) write_flags(dataset.id(), field.flag_meanings);
  for (const auto& [name, value] : field.attributes) write_attribute(dataset.id(), name, value);
  return dataset;
}

void write_group(hid_t file, const ResultGroup& content) {
  const Hdf5Handle group = created_group(file, content.name);
  const Field& signal = content.signal();
  write_attribute(group.id(), "NX_class", "NXdata");
  write_attribute(group.id(), "signal", signal.quantity());
  std::vector<std::string> signal_axes;
  for (const Axis& axis : signal.axes) signal_axes.push_back(axis.name);
  if (!signal_axes.empty()) write_hdf5_attribute_texts(group.id(), "axes", signal_axes);

  std::map<std::string, Hdf5Handle> scales;
  for (const Axis* axis : content.axes) scales.emplace(axis->name, written_axis(group.id(), *axis));
  for (const Field* field : content.fields) {
    const Hdf5Handle dataset = written_field(group.id(), *field);
    for (unsigned i = 0; i < field->axes.size(); ++i)
      demand(H5DSattach_scale(dataset.id(), scales.at(field->axes[i].name).id(), i) >= 0, field->name);
  }
}

std::string text_or(const Attributes& attributes, const std::string& name, const std::string& otherwise) {
  const auto found = attributes.find(name);
  const auto* text = found == attributes.end() ? nullptr : std::get_if<std::string>(&found->second);
  return text == nullptr ? otherwise : *text;
}

void write_root(hid_t file, const Result& result, const std::vector<ResultGroup>& groups) {
  write_attribute(file, "title", result.title);
  write_attribute(file, "Conventions", "CF-1.8");
  write_attribute(file, "source", "headwave " + text_or(result.provenance, "version", "(version unknown)"));
  write_attribute(file, "history", text_or(result.provenance, "command", ""));
  write_attribute(
      file, "references",
      "Yamamoto and Matsuzaki 2023: Absolute Position Embedding Learns Sinusoid-like Waves for Attention Based on "
      "Relative Position, EMNLP 2023");
  write_attribute(file, "schema_version", std::int64_t{result_schema_version});
  std::vector<std::string> names;
  for (const Field& field : result.fields) names.push_back(field.name);
  write_hdf5_attribute_texts(file, "fields", names);
  write_attribute(file, "NX_class", "NXroot");
  if (!groups.empty()) write_attribute(file, "default", groups.front().name);
}

void write_file(const Result& result, const std::vector<ResultGroup>& groups, const std::filesystem::path& path) {
  Hdf5Handle file = created_file(path);
  write_root(file.id(), result, groups);
  for (const ResultGroup& group : groups) write_group(file.id(), group);
  const Hdf5Handle provenance = created_group(file.id(), "provenance");
  write_attribute(provenance.id(), "NX_class", "NXcollection");
  for (const auto& [name, value] : result.provenance) write_attribute(provenance.id(), name, value);
  demand(H5Fflush(file.id(), H5F_SCOPE_LOCAL) >= 0, "/");
  write_attribute(file.id(), "complete", std::int64_t{1});
  demand(H5Fflush(file.id(), H5F_SCOPE_LOCAL) >= 0, "/");
}

}  // namespace

void write_result(const Result& result, const std::filesystem::path& path) {
  const std::vector<ResultGroup> groups = result_groups(result);
  ReplacedFile replaced(path);
  try {
    const Hdf5Session session;
    write_file(result, groups, replaced.temporary());
  } catch (const IoError& problem) {
    throw IoError(fmt::format("{}: {}", printable(path.string(), 400), problem.what()));
  }
  replaced.commit();
}

}  // namespace headwave
