#include <algorithm>
#include <array>
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
#include "result_file.h"

namespace headwave {

namespace {

/// Names of attributes that the layout itself gives to datasets and groups.
constexpr auto result_own_attributes = std::to_array<std::string_view>(
    {"long_name", "units", "_FillValue", "flag_values", "flag_meanings", "flag_labels", "CLASS", "DIMENSION_LIST",
     "REFERENCE_LIST", "_Netcdf4Dimid", "_Netcdf4Coordinates"});
constexpr const char* group_own_attribute = "NX_class";

class Reader {
 public:
  /// @param file  has the right seal, or none
  explicit Reader(const Hdf5File& file) : file_(file), name_(shown_path(file.path())), root_(checked_root()) {}

  /// @param wanted  names of Fields; null: all
  Result result(const std::vector<std::string>* wanted) {
    Result result;
    result.title = attribute_text(root_, "title");
    for (const std::string& field : file_.attribute_texts("/", "fields")) {
      if (wanted != nullptr && std::ranges::find(*wanted, field) == wanted->end()) continue;
      stop_if_asked();
      result.fields.push_back(field_of(field));
    }
    result.provenance = file_.attributes("/provenance");
    result.provenance.erase(group_own_attribute);
    return result;
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

  /// The root attributes of a finished result that this program can read; refuses anything else.
  [[nodiscard]] Attributes checked_root() const {
    Attributes root = file_.attributes("/");
    const std::int64_t version = number(root, "schema_version");
    if (version < 1 || !attribute_text(root, "source").starts_with("headwave"))
      refuse(
          "not a headwave result: it lacks the schema_version that headwave writes; `headwave inspect` shows what it "
          "holds");
    if (version > result_schema_version)
      refuse(
          fmt::format("its schema_version {} is newer than this headwave, which reads up to {}: use a newer headwave",
                      version, result_schema_version));
    if (number(root, "complete") != 1) refuse("not finished: writing it was interrupted; run the job again");
    return root;
  }

  Axis axis_of(const std::string& path, const std::string& name) {
    if (const auto known = axes_.find(path); known != axes_.end()) return known->second;
    const Hdf5Node node = file_.node(path);
    if (node.kind != "dataset" || node.shape.size() != 1)
      refuse(fmt::format("the axis '{}' should be a dataset of one axis: the file is damaged", printable(path)));
    Axis axis{name, attribute_text(node.attributes, "units"), attribute_text(node.attributes, "long_name"), {}};
    read_values(axis.values, node);
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
        refuse(fmt::format("'{}' has {} entries along '{}', but the axis has {}: the file is damaged", printable(name),
                           node.shape[i], field.axes[i].name, field.axes[i].size()));
    read_values(field.values, node);
    if (node.dtype == "uint8") {
      const auto& numbers = std::get<std::vector<std::int64_t>>(field.values);
      field.values = std::vector<std::uint8_t>(numbers.begin(), numbers.end());
    }
    field.flag_meanings = file_.attribute_texts(node.path, "flag_labels");
    field.attributes = node.attributes;
    for (const std::string_view own : result_own_attributes) field.attributes.erase(std::string(own));
    return field;
  }

  const Hdf5File& file_;
  std::string name_;
  Attributes root_;
  std::map<std::string, Axis> axes_;
};

}  // namespace

// The seal is checked before the library reads the file, since the library may crash on damaged bytes.

Result read_result(const std::filesystem::path& path) {
  require_right_seal(path);
  return Reader(Hdf5File(path)).result(nullptr);
}

Result read_result(const Hdf5File& file, const std::vector<std::string>& fields) {
  require_right_seal(file.path());
  return Reader(file).result(&fields);
}

}  // namespace headwave
