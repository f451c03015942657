#include <algorithm>
#include <limits>
#include <numeric>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <hdf5_hl.h>

#include "../../core/errors/error.h"
#include "../../core/process/threads.h"
#include "../files/printable.h"
#include "../files/replaced_file.h"
#include "hdf5_output.h"
#include "result_file.h"

namespace headwave {

namespace {

/// One analysis in the file: its Fields, in order, and all their axes.
struct ResultGroup {
  std::string name;
  std::vector<const Axis*> axes;  // in order of first use
  std::vector<const Field*> fields;

  /// The Field a viewer should draw: the first of numbers that has axes, else the first.
  [[nodiscard]] const Field& signal() const {
    const auto is_drawable = [](const Field* field) {
      return !field->axes.empty() && !std::holds_alternative<std::vector<std::string>>(field->values);
    };
    const auto found = std::ranges::find_if(fields, is_drawable);
    return found == fields.end() ? *fields.front() : **found;
  }
};

/// Whether netCDF, CF and languages with attributes accept a name.
bool is_identifier(const std::string& name) {
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  return !name.empty() && is_letter(name.front()) && name.size() <= 200 && std::ranges::all_of(name, [&](char c) {
    return is_letter(c) || (c >= '0' && c <= '9') || c == '-' || c == '.';
  });
}

[[noreturn]] void refuse(const std::string& name, const std::string& problem) {
  throw ShapeError(fmt::format("write_result: '{}': {}", printable(name), problem));
}

void check_field(const Field& field) {
  if (field.name.find('/') == field.name.npos || !is_identifier(field.group()) || !is_identifier(field.quantity()) ||
      field.group() == "provenance")
    refuse(field.name, "a Field's name must be 'group/quantity' of letters, digits, '_', '-' and '.'");
  const auto count = std::visit([](const auto& list) { return static_cast<Index>(list.size()); }, field.values);
  if (count != field.size())
    refuse(field.name, fmt::format("its axes hold {} entries, found {} values", field.size(), count));
}

void add_axes(ResultGroup& group, const Field& field) {
  for (const Axis& axis : field.axes) {
    const auto known = std::ranges::find(group.axes, axis.name, [](const Axis* a) { return a->name; });
    if (known == group.axes.end())
      group.axes.push_back(&axis);
    else if ((*known)->unit != axis.unit || (*known)->values != axis.values)
      refuse(field.name, fmt::format("the axis '{}' has other values or units than elsewhere in '{}': rename it",
                                     axis.name, group.name));
  }
}

/// The groups of a result in order of first use, checked. Points into the result.
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
  return groups;
}

void write_flags(hid_t dataset, const std::vector<std::string>& meanings) {
  // CF separates meanings by blanks, so a meaning of several words is joined there and stands as it is in
  // flag_labels.
  std::vector<std::string> words = meanings;
  for (std::string& word : words) std::ranges::replace(word, ' ', '_');
  write_hdf5_attribute(dataset, "flag_meanings", fmt::format("{}", fmt::join(words, " ")));
  write_hdf5_list(dataset, "flag_labels", meanings);
  std::vector<std::uint8_t> values(meanings.size());
  std::iota(values.begin(), values.end(), std::uint8_t{0});
  write_hdf5_list(dataset, "flag_values", values);
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
  if (!signal_axes.empty()) write_hdf5_list(group.id(), "axes", signal_axes);

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
  write_hdf5_list(file, "fields", names);
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
