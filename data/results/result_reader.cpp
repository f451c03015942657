#include <algorithm>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "../../core/errors/error.h"
#include "../../core/process/threads.h"
#include "../files/digest.h"
#include "../files/printable.h"
#include "../hdf5/hdf5_file.h"
#include "old_names.h"
#include "result_file.h"
#include "result_layout.h"

namespace headwave {

namespace {

/// A Field's name as files of now have it.
std::string current_field_name(const std::string& name) {
  for (const auto& [group, old, now] : old_quantities)
    if (name == fmt::format("{}/{}", group, old)) return fmt::format("{}/{}", group, now);
  return name;
}

/// An axis's name as files of now have it.
std::string current_axis_name(const std::string& name) {
  return std::ranges::find(old_offset_axes, name) == old_offset_axes.end() ? name : "offset";
}

/// A cause of a profile as files of now call it.
void rename_old_context(Field& field) {
  if (field.group() != "head_account") return;
  for (Axis& axis : field.axes)
    if (auto* labels = std::get_if<std::vector<std::string>>(&axis.values))
      std::ranges::replace(*labels, std::string(old_context), std::string("context"));
  std::ranges::replace(field.flag_meanings, std::string(old_context), std::string("context"));
}

class Reader {
 public:
  explicit Reader(const Hdf5File& file) : file_(file), name_(shown_path(file.path())), root_(checked_root()) {
    check_.schema_version = number(root_, "schema_version");
  }

  /// @param wanted  names of Fields; null: all
  Result result(const std::vector<std::string>* wanted) {
    Result result;
    result.title = attribute_text(root_, "title");
    see_fields(wanted, [&](Field field) { result.fields.push_back(std::move(field)); });
    result.provenance = file_.attributes("/provenance");
    for (const std::string_view own : group_own_attributes) result.provenance.erase(std::string(own));
    return result;
  }

  /// Reads every Field, one in memory at a time.
  void read_all() {
    see_fields(nullptr, [](const Field&) {});
  }

  /// What was found: of the arrays that were read, and of the file's own digest. Ask once, at the end.
  ResultCheck check() {
    const std::optional<bool> right = seal_is_right(file_.path());
    check_.has_file_digest = right.has_value();
    if (check_.problems.empty() && !right.value_or(true))
      check_.problems.emplace_back("is not what was written: the digest at its end is that of other bytes");
    return std::move(check_);
  }

 private:
  [[noreturn]] void refuse(const std::string& problem) const {
    throw FormatError(fmt::format("{}: {}", name_, problem));
  }

  static std::int64_t number(const Attributes& attributes, const std::string& name) {
    const auto found = attributes.find(name);
    const auto* value = found == attributes.end() ? nullptr : std::get_if<std::int64_t>(&found->second);
    return value == nullptr ? 0 : *value;
  }

  /// The root attributes, if this is a finished result that is not newer than this program.
  [[nodiscard]] Attributes checked_root() const {
    Attributes root = file_.attributes("/");
    const std::int64_t version = number(root, "schema_version");
    if (version < 1 || !attribute_text(root, "source").starts_with("headwave"))
      refuse("not a headwave result: it has no schema_version of ours; `headwave inspect` shows what it holds");
    if (version > result_schema_version)
      refuse(
          fmt::format("its schema_version {} is newer than this headwave, which reads up to {}: use a newer headwave",
                      version, result_schema_version));
    if (number(root, "complete") != 1) refuse("not finished: writing it was interrupted; run the job again");
    return root;
  }

  /// @param digest  value_digest() of what was read
  void compare(const Hdf5Node& array, const std::string& digest) {
    ++check_.arrays;
    const std::string written = attribute_text(array.attributes, "sha256");
    if (!written.empty()) ++check_.digests;
    if (written.empty() && check_.schema_version >= first_schema_with_digests)
      check_.problems.push_back(fmt::format("'{}' has lost its digest", printable(array.path)));
    else if (!written.empty() && written != digest)
      check_.problems.push_back(fmt::format("'{}' is not what was written: its digest differs", printable(array.path)));
  }

  template <class See>
  void see_fields(const std::vector<std::string>* wanted, const See& see) {
    for (const std::string& field : file_.attribute_texts("/", "fields")) {
      if (wanted != nullptr && std::ranges::find(*wanted, current_field_name(field)) == wanted->end()) continue;
      stop_if_asked();
      see(field_of(field));
    }
  }

  Axis axis_of(const std::string& path, const std::string& name) {
    if (const auto known = axes_.find(path); known != axes_.end()) return known->second;
    const Hdf5Node node = file_.node(path);
    if (node.kind != "dataset" || node.shape.size() != 1)
      refuse(fmt::format("the axis '{}' is damaged", printable(path)));
    Axis axis{current_axis_name(name),
              attribute_text(node.attributes, "units"),
              attribute_text(node.attributes, "long_name"),
              {}};
    read_values(axis.values, node);
    compare(node, value_digest(axis));
    return axes_.emplace(path, std::move(axis)).first->second;
  }

  template <class Values>
  void read_values(Values& values, const Hdf5Node& node) const {
    if (node.dtype == "float64")
      values = file_.doubles(node.path);
    else if (node.dtype == "string")
      values = file_.strings(node.path);
    else
      values = file_.integers(node.path);
  }

  Field field_of(const std::string& name) {
    const Hdf5Node node = file_.node(fmt::format("/{}", name));
    if (node.kind != "dataset") refuse(fmt::format("'{}' should be a dataset", printable(name)));
    Field field{name, {}, attribute_text(node.attributes, "units"), attribute_text(node.attributes, "long_name"), {},
                {},   {}};
    for (const std::string& axis : file_.scales(node.path)) {
      if (axis.empty()) refuse(fmt::format("an axis of '{}' has no dimension scale", printable(name)));
      field.axes.push_back(axis_of(fmt::format("/{}/{}", field.group(), axis), axis));
    }
    for (std::size_t i = 0; i < field.axes.size(); ++i)
      if (field.axes[i].size() != node.shape[i])
        refuse(fmt::format("'{}' has {} entries along '{}', the axis has {}", printable(name), node.shape[i],
                           field.axes[i].name, field.axes[i].size()));
    read_values(field.values, node);
    if (node.dtype == "uint8") {
      const auto& numbers = std::get<std::vector<std::int64_t>>(field.values);
      field.values = std::vector<std::uint8_t>(numbers.begin(), numbers.end());
    }
    compare(node, value_digest(field));
    field.flag_meanings = file_.attribute_texts(node.path, "flag_labels");
    field.attributes = node.attributes;
    for (const std::string_view own : result_own_attributes) field.attributes.erase(std::string(own));
    field.name = current_field_name(name);
    rename_old_context(field);
    return field;
  }

  const Hdf5File& file_;
  std::string name_;
  Attributes root_;
  ResultCheck check_;
  std::map<std::string, Axis> axes_;
};

/// A problem of a file, with what to do, as messages say it.
std::string told(const Hdf5File& file, const std::string& problem) {
  return fmt::format("{}: {}; put a sound copy in its place, or remove it and make it again", shown_path(file.path()),
                     problem);
}

void require_no_problem(const Hdf5File& file, const ResultCheck& check) {
  if (!check.problems.empty()) throw FormatError(told(file, check.problems.front()));
}

Result whole_result(const Hdf5File& file, const std::vector<std::string>* fields) {
  Reader reader(file);
  Result result = reader.result(fields);
  require_no_problem(file, reader.check());
  return result;
}

}  // namespace

Result read_result(const std::filesystem::path& path) {
  return whole_result(Hdf5File(path), nullptr);
}

Result read_result(const Hdf5File& file, const std::vector<std::string>& fields) {
  return whole_result(file, &fields);
}

Result read_result(const Hdf5File& file, const std::vector<std::string>& fields,
                   const std::function<void(const std::string&)>& tell) {
  Reader reader(file);
  Result result = reader.result(&fields);
  for (const std::string& problem : reader.check().problems) tell(told(file, problem));
  return result;
}

ResultCheck check_result(const Hdf5File& file) {
  Reader reader(file);
  reader.read_all();
  return reader.check();
}

void require_whole_result(const Hdf5File& file) {
  require_no_problem(file, check_result(file));
}

}  // namespace headwave
