#include "hdf5_tree.h"

#include <cstring>
#include <set>

#include <fmt/format.h>

#include "../../core/errors/error.h"
#include "../files/printable.h"
#include "hdf5_attributes.h"
#include "hdf5_dataset.h"

namespace headwave {

namespace {

constexpr std::size_t most_objects = 1'000'000;
constexpr int deepest_group = 64;

// What tells two objects of one file apart, however they were reached.
std::string identity(hid_t object) {
#if H5_VERSION_GE(1, 12, 0)
  H5O_info2_t info{};
  if (H5Oget_info3(object, &info, H5O_INFO_BASIC) < 0) throw FormatError(hdf5_reason());
  return {reinterpret_cast<const char*>(&info.token), sizeof info.token};
#else
  H5O_info_t info{};
  if (H5Oget_info2(object, &info, H5O_INFO_BASIC) < 0) throw FormatError(hdf5_reason());
  return {reinterpret_cast<const char*>(&info.addr), sizeof info.addr};
#endif
}

bool order_is_known(hid_t group) {
  const Hdf5Handle properties(H5Gget_create_plist(group), H5Pclose);
  unsigned order = 0;
  return properties.valid() && H5Pget_link_creation_order(properties.id(), &order) >= 0 &&
         (order & H5P_CRT_ORDER_TRACKED) != 0;
}

// Where a soft or external link leads; empty for a hard link.
std::string link_target(hid_t group, const std::string& name) {
  H5L_info_t info{};
  if (H5Lget_info(group, name.c_str(), &info, H5P_DEFAULT) < 0) throw FormatError(hdf5_reason());
  if (info.type == H5L_TYPE_HARD) return "";
  if (info.type != H5L_TYPE_SOFT && info.type != H5L_TYPE_EXTERNAL) return "of a kind of its own";
  if (info.u.val_size > (std::size_t{1} << 16U)) return "to a name too long to be one";
  std::string value(info.u.val_size + 1, '\0');
  if (H5Lget_val(group, name.c_str(), value.data(), info.u.val_size, H5P_DEFAULT) < 0) throw FormatError(hdf5_reason());
  if (info.type == H5L_TYPE_SOFT) return fmt::format("to {}", value.c_str());
  const char* file = nullptr;
  const char* object = nullptr;
  unsigned flags = 0;
  if (H5Lunpack_elink_val(value.data(), info.u.val_size, &flags, &file, &object) < 0) throw FormatError(hdf5_reason());
  return fmt::format("to {} in another file, {}", object, file);
}

class Walk {
 public:
  explicit Walk(std::string until) : until_(std::move(until)) {}

  [[nodiscard]] std::vector<Hdf5Node> take() { return std::move(nodes_); }

  void enter(Hdf5Handle object, const std::string& path, int depth) {
    if (nodes_.size() >= most_objects)
      throw FormatError(fmt::format("more than {} objects are not listed", most_objects));
    if (depth > deepest_group)
      throw FormatError(fmt::format("groups nested more than {} deep are not listed", deepest_group));
    const hid_t id = object.id();
    const bool is_group = H5Iget_type(id) == H5I_GROUP;
    if (!is_group) {
      nodes_.push_back(hdf5_node(std::move(object), path));
      return;
    }
    nodes_.push_back({path, "group", {}, "", "", hdf5_attributes(id)});
    if (!entered_.insert(identity(id)).second) {
      nodes_.back().storage = "listed above";
      return;
    }
    const std::string folder = path == "/" ? path : path + "/";
    for (const std::string& name : hdf5_names(id)) {
      ended_ = ended_ || folder + name == until_;
      if (ended_) return;
      visit(id, name, folder + name, depth);
    }
  }

 private:
  // One broken object does not hide the others.
  void visit(hid_t group, const std::string& name, const std::string& path, int depth) {
    const std::size_t before = nodes_.size();
    std::string problem;
    note_hdf5_place(path);
    try {
      const std::string target = link_target(group, name);
      if (!target.empty()) return nodes_.push_back({path, "link", {}, "", target, {}});
      Hdf5Handle object(H5Oopen(group, name.c_str(), H5P_DEFAULT), H5Oclose);
      if (object.valid() && H5Iget_type(object.id()) == H5I_GROUP) return enter(std::move(object), path, depth + 1);
      if (object.valid()) return enter(std::move(object), path, depth);
      problem = hdf5_reason();
    } catch (const FormatError& error) {
      if (nodes_.size() >= most_objects) throw;
      problem = error.what();
    }
    if (nodes_.size() > before)
      nodes_[before].storage = problem;
    else
      nodes_.push_back({path, "unreadable", {}, "", problem, {}});
  }

  std::string until_;
  bool ended_ = false;
  std::vector<Hdf5Node> nodes_;
  std::set<std::string> entered_;
};

}  // namespace

std::vector<Hdf5Node> hdf5_tree(hid_t file, const std::string& until) {
  Walk walk(until);
  walk.enter(hdf5_object(file, "/"), "/", 0);
  return walk.take();
}

std::vector<std::string> hdf5_names(hid_t group) {
  std::vector<std::string> names;
  const auto keep = [](hid_t, const char* name, const H5L_info_t*, void* list) -> herr_t {
    auto& kept = *static_cast<std::vector<std::string>*>(list);
    if (kept.size() >= most_objects) return 1;
    try {
      kept.emplace_back(name);
    } catch (...) {
      return -1;  // no exception may cross the C library
    }
    return 0;
  };
  if (H5Literate(group, H5_INDEX_NAME, H5_ITER_INC, nullptr, keep, &names) < 0) throw FormatError(hdf5_reason());
  if (!order_is_known(group)) return names;
  // Both indices are read, so that damage to either is found: others go by the names.
  names.clear();
  if (H5Literate(group, H5_INDEX_CRT_ORDER, H5_ITER_INC, nullptr, keep, &names) < 0) throw FormatError(hdf5_reason());
  return names;
}

void require_sound_metadata(hid_t object) {
#if H5_VERSION_GE(1, 12, 0)
  H5O_native_info_t info{};
  const herr_t read = H5Oget_native_info(object, &info, H5O_NATIVE_INFO_ALL);
#else
  H5O_info_t info{};
  const herr_t read = H5Oget_info2(object, &info, H5O_INFO_ALL);
#endif
  if (read < 0) throw FormatError(hdf5_reason());
}

Hdf5Node hdf5_node(Hdf5Handle object, const std::string& path) {
  Hdf5Node node{path, "type", {}, "", "", hdf5_attributes(object.id())};
  const H5I_type_t kind = H5Iget_type(object.id());
  if (kind == H5I_GROUP) node.kind = "group";
  if (kind == H5I_DATATYPE) node.dtype = hdf5_type_text(object.id());
  if (kind != H5I_DATASET) return node;
  const Hdf5Dataset dataset(std::move(object));
  node.kind = "dataset";
  node.shape = dataset.extent().shape;
  node.dtype = hdf5_type_text(dataset.type());
  node.storage = dataset.storage_text();
  return node;
}

}  // namespace headwave
