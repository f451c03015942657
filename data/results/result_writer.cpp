#include <algorithm>
#include <limits>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <hdf5_hl.h>

#include "../../core/errors/error.h"
#include "../../core/process/threads.h"
#include "../files/printable.h"
#include "../files/replaced_file.h"
#include "../hdf5/hdf5_handle.h"
#include "hdf5_output.h"
#include "result_file.h"
#include "result_layout.h"

namespace headwave {

namespace {

void write_flags(hid_t dataset, const std::vector<std::string>& meanings) {
  // CF separates meanings by blanks, so a meaning of several words is joined there and stands as it is in
  // flag_labels.
  std::vector<std::string> words = meanings;
  for (std::string& word : words) std::ranges::replace(word, ' ', '_');
  write_hdf5_attribute(dataset, "flag_meanings", fmt::format("{}", fmt::join(words, " ")));
  write_hdf5_attribute_texts(dataset, "flag_labels", meanings);
  std::vector<std::uint8_t> values(meanings.size());
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<std::uint8_t>(i);
  write_hdf5_attribute_bytes(dataset, "flag_values", values);
}

Hdf5Handle written_axis(hid_t group, const Axis& axis) {
  Hdf5Handle dataset = std::visit(
      [&](const auto& values) { return new_hdf5_dataset(group, axis.name, {axis.size()}, values); }, axis.values);
  demand_hdf5(H5DSset_scale(dataset.id(), axis.name.c_str()) >= 0, axis.name);
  write_hdf5_attribute(dataset.id(), "long_name", axis.long_name);
  write_hdf5_attribute(dataset.id(), "units", axis.unit);
  return dataset;
}

Hdf5Handle written_field(hid_t group, const Field& field) {
  std::vector<Index> shape;
  for (const Axis& axis : field.axes) shape.push_back(axis.size());
  Hdf5Handle dataset = std::visit(
      [&](const auto& values) { return new_hdf5_dataset(group, field.quantity(), shape, values); }, field.values);
  write_hdf5_attribute(dataset.id(), "long_name", field.long_name);
  write_hdf5_attribute(dataset.id(), "units", field.unit);
  if (std::holds_alternative<std::vector<double>>(field.values))
    write_hdf5_attribute(dataset.id(), "_FillValue", std::vector<double>{std::numeric_limits<double>::quiet_NaN()});
  if (!field.flag_meanings.empty()) write_flags(dataset.id(), field.flag_meanings);
  for (const auto& [name, value] : field.attributes) write_hdf5_attribute(dataset.id(), name, value);
  return dataset;
}

void write_group(hid_t file, const ResultGroup& content) {
  Hdf5Handle group = new_hdf5_group(file, content.name);
  const Field& signal = content.signal();
  write_hdf5_attribute(group.id(), "NX_class", "NXdata");
  write_hdf5_attribute(group.id(), "signal", signal.quantity());
  std::vector<std::string> signal_axes;
  for (const Axis& axis : signal.axes) signal_axes.push_back(axis.name);
  if (!signal_axes.empty()) write_hdf5_attribute_texts(group.id(), "axes", signal_axes);

  std::map<std::string, Hdf5Handle> scales;
  for (const Axis* axis : content.axes) scales.emplace(axis->name, written_axis(group.id(), *axis));
  for (const Field* field : content.fields) {
    stop_if_asked();
    Hdf5Handle dataset = written_field(group.id(), *field);
    for (unsigned i = 0; i < field->axes.size(); ++i)
      demand_hdf5(H5DSattach_scale(dataset.id(), scales.at(field->axes[i].name).id(), i) >= 0, field->name);
    finish_hdf5(dataset, field->name);
  }
  for (auto& [name, scale] : scales) finish_hdf5(scale, content.name + "/" + name);
  finish_hdf5(group, content.name);
}

void write_root(hid_t file, const Result& result, const std::vector<ResultGroup>& groups) {
  write_hdf5_attribute(file, "title", result.title);
  write_hdf5_attribute(file, "Conventions", "CF-1.8");
  write_hdf5_attribute(file, "source", "headwave " + attribute_text(result.provenance, "version", "(version unknown)"));
  write_hdf5_attribute(file, "history", attribute_text(result.provenance, "command"));
  write_hdf5_attribute(
      file, "references",
      "Yamamoto and Matsuzaki 2023: Absolute Position Embedding Learns Sinusoid-like Waves for Attention Based on "
      "Relative Position, EMNLP 2023");
  write_hdf5_attribute(file, "schema_version", std::int64_t{result_schema_version});
  std::vector<std::string> names;
  for (const Field& field : result.fields) names.push_back(field.name);
  write_hdf5_attribute_texts(file, "fields", names);
  write_hdf5_attribute(file, "NX_class", "NXroot");
  if (!groups.empty()) write_hdf5_attribute(file, "default", groups.front().name);
}

/// Writes everything, and last that the file is complete.
void fill_file(Hdf5Handle& file, const Result& result, const std::vector<ResultGroup>& groups) {
  write_root(file.id(), result, groups);
  for (const ResultGroup& group : groups) write_group(file.id(), group);
  Hdf5Handle provenance = new_hdf5_group(file.id(), "provenance");
  write_hdf5_attribute(provenance.id(), "NX_class", "NXcollection");
  for (const auto& [name, value] : result.provenance) write_hdf5_attribute(provenance.id(), name, value);
  finish_hdf5(provenance, "provenance");
  demand_hdf5(H5Fflush(file.id(), H5F_SCOPE_LOCAL) >= 0, "/");
  write_hdf5_attribute(file.id(), "complete", std::int64_t{1});
  finish_hdf5(file, "/");
}

void write_file(const Result& result, const std::vector<ResultGroup>& groups, const std::filesystem::path& path) {
  Hdf5Handle file = new_hdf5_file(path);
  try {
    fill_file(file, result, groups);
  } catch (const Stopped&) {
    throw;  // nothing is broken
  } catch (...) {
    // The library (1.14 at least) crashes when it closes a file that it could not write, because it flushes once
    // more. So the handle stays open; the file is removed, and the program about to say so.
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
