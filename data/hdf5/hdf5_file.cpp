#include "hdf5_file.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <hdf5_hl.h>

#include "../../core/errors/error.h"
#include "../files/file_bytes.h"
#include "../files/printable.h"
#include "hdf5_dataset.h"
#include "hdf5_handle.h"

namespace headwave {

namespace {

constexpr std::size_t most_objects = 1'000'000;

/// Makes the errors of some work name what it is about.
template <class Work>
auto named(const std::string& name, Work work) {
  const auto told = [&](const Error& problem) { return fmt::format("{}: {}", name, problem.finding()); };
  try {
    return work();
  } catch (const FormatError& problem) {
    throw FormatError(told(problem), problem.remedies());
  } catch (const ShapeError& problem) {
    throw ShapeError(told(problem), problem.remedies());
  } catch (const IoError& problem) {
    throw IoError(told(problem), problem.remedies());
  }
}

bool knows_creation_order(hid_t group) {
  const Hdf5Handle properties(H5Gget_create_plist(group), H5Pclose);
  unsigned order = 0;
  if (!properties.valid() || H5Pget_link_creation_order(properties.id(), &order) < 0) fail_hdf5_read();
  return (order & H5P_CRT_ORDER_TRACKED) != 0;
}

/// Keeps the names that the library hands out, one after another.
herr_t keep_name(hid_t, const char* name, const H5L_info_t*, void* list) {
  auto& kept = *static_cast<std::vector<std::string>*>(list);
  if (kept.size() >= most_objects) return 1;
  try {
    kept.emplace_back(name);
  } catch (...) {
    return -1;  // no exception may cross the C library
  }
  return 0;
}

std::vector<std::string> names_in(hid_t group) {
  std::vector<std::string> names;
  const H5_index_t index = knows_creation_order(group) ? H5_INDEX_CRT_ORDER : H5_INDEX_NAME;
  if (H5Literate(group, index, H5_ITER_INC, nullptr, keep_name, &names) < 0) fail_hdf5_read();
  return names;
}

/// Where a soft or external link leads; empty for a hard link.
std::string link_target(hid_t file, const std::string& path) {
  H5L_info_t info{};
  if (H5Lget_info(file, path.c_str(), &info, H5P_DEFAULT) < 0) fail_hdf5_read();
  if (info.type == H5L_TYPE_HARD) return "";
  if (info.type != H5L_TYPE_SOFT && info.type != H5L_TYPE_EXTERNAL) return "of a kind of its own";
  if (info.u.val_size > (std::size_t{1} << 16U)) return "to a name too long to be one";
  std::string value(info.u.val_size + 1, '\0');
  if (H5Lget_val(file, path.c_str(), value.data(), info.u.val_size, H5P_DEFAULT) < 0) fail_hdf5_read();
  if (info.type == H5L_TYPE_SOFT) return fmt::format("to {}", value.c_str());
  const char* other = nullptr;
  const char* object = nullptr;
  unsigned flags = 0;
  if (H5Lunpack_elink_val(value.data(), info.u.val_size, &flags, &other, &object) < 0) fail_hdf5_read();
  return fmt::format("to {} in another file, {}", object, other);
}

Hdf5Node node_of(Hdf5Handle object, const std::string& path) {
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

Hdf5Node member_node(hid_t file, const std::string& path) {
  const std::string target = path == "/" ? "" : link_target(file, path);
  if (!target.empty()) return {path, "link", {}, "", target, {}};
  return node_of(hdf5_object(file, path), path);
}

std::string last_name(hid_t object) {
  std::string path(1024, '\0');
  const ssize_t length = H5Iget_name(object, path.data(), path.size());
  if (length <= 0 || static_cast<std::size_t>(length) >= path.size()) return "";
  path.resize(static_cast<std::size_t>(length));
  return path.substr(path.rfind('/') + 1);
}

std::vector<std::string> scales_of(const Hdf5Dataset& data) {
  std::vector<std::string> names(data.extent().shape.size());
  const auto keep_first = [](hid_t, unsigned, hid_t scale, void* name) -> herr_t {
    *static_cast<std::string*>(name) = last_name(scale);
    return 1;
  };
  for (std::size_t axis = 0; axis < names.size(); ++axis)
    H5DSiterate_scales(data.id(), static_cast<unsigned>(axis), nullptr, keep_first, &names[axis]);
  return names;
}

/// Unsigned numbers beyond int64 would be clipped in silence; read as unsigned ones, they come out negative.
bool could_overflow(const Hdf5Dataset& data) {
  return H5Tget_size(data.type()) >= 8 && H5Tget_sign(data.type()) == H5T_SGN_NONE;
}

hid_t memory_type(const Hdf5Dataset&, float) {
  return H5T_NATIVE_FLOAT;
}
hid_t memory_type(const Hdf5Dataset&, double) {
  return H5T_NATIVE_DOUBLE;
}
hid_t memory_type(const Hdf5Dataset& data, std::int64_t) {
  if (H5Tget_class(data.type()) == H5T_FLOAT)
    throw FormatError(fmt::format("expected integers, found {}", hdf5_type_text(data.type())));
  return could_overflow(data) ? H5T_NATIVE_UINT64 : H5T_NATIVE_INT64;
}

}  // namespace

/// The file in the library. Datasets stay open, since opening one costs as much as reading a small one.
struct Hdf5File::Opened {
  Opened(const std::filesystem::path& path, std::uintmax_t size) : bytes(size) {
    const Hdf5Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
    // h5py's own chunks of stored states hold tens of documents: they stay unpacked for the next document.
    constexpr std::size_t places = 10007, most_unpacked = std::size_t{16} << 20U;
    H5Pset_cache(access.id(), 0, places, most_unpacked, 0.75);
    file = Hdf5Handle(H5Fopen(path.c_str(), H5F_ACC_RDONLY, access.id()), H5Fclose);
    if (!file.valid()) fail_hdf5_read("cannot be read as an HDF5 file");
  }

  Hdf5Dataset& dataset(const std::string& path) {
    constexpr std::size_t most_open = 1000;
    if (const auto found = datasets.find(path); found != datasets.end()) return found->second;
    if (datasets.size() >= most_open) datasets.clear();
    return datasets.emplace(path, Hdf5Dataset(file.id(), path)).first->second;
  }

  /// @param room  called with the number of entries
  /// @param block  null: all entries
  template <class Number, class Room>
  void read(const std::string& path, const ArrayBlock* chosen, const Room& room) {
    Hdf5Dataset& data = dataset(path);
    data.require_own_data();
    if (!hdf5_is_number(data.type()))
      throw FormatError(fmt::format("expected numbers, found {}", hdf5_type_text(data.type())));
    const hid_t type = memory_type(data, Number{});
    const ArrayBlock block = chosen == nullptr ? data.whole() : *chosen;
    require_inside(block, data.extent().shape);
    data.check_readable(bytes, sizeof(Number), block);
    const std::size_t entries = block.count == data.extent().shape ? data.extent().entries : entries_of(block);
    Number* values = room(entries);
    if (entries > 0) data.read(bytes, type, block, values);
  }

  std::uintmax_t bytes;
  Hdf5Handle file;
  std::map<std::string, Hdf5Dataset> datasets;
};

/// Runs some work within the library; errors name the file and the object.
template <class Work>
auto Hdf5File::read_named(const std::string& object, Work work) const {
  const Hdf5Session session(name_.c_str());
  return named(object.empty() ? name_ : fmt::format("{}: {}", name_, printable(object)), work);
}

Hdf5File::Hdf5File(const std::filesystem::path& path) : path_(path), name_(shown_path(path)) {
  const std::uintmax_t bytes = FileBytes(path).size();  // says what cannot be opened and why better than the library
  read_named("", [&] { opened_ = std::make_unique<Opened>(path, bytes); });
}

Hdf5File::~Hdf5File() {
  const Hdf5Session session(name_.c_str());
  opened_.reset();
}

std::vector<Hdf5Node> Hdf5File::tree() const {
  return read_named("", [&] {
    const hid_t file = opened_->file.id();
    std::vector<Hdf5Node> nodes{member_node(file, "/")};
    const auto unreadable = [&](const std::string& path, const std::string& why) {
      nodes.push_back({path, "unreadable", {}, "", why, {}});
    };
    std::vector<std::string> paths;
    bool visited = false;  // a group that can be reached twice is entered once
    std::string problem;
    for (const H5_index_t index : {H5_INDEX_CRT_ORDER, H5_INDEX_NAME}) {
      if (visited) break;
      paths.clear();
      visited = H5Lvisit(file, index, H5_ITER_INC, keep_name, &paths) >= 0;
      if (!visited && hdf5_read_failed_by_system()) fail_hdf5_read();
      if (!visited) problem = hdf5_reason();
    }
    for (const std::string& name : paths) {
      const std::string path = "/" + name;
      try {
        nodes.push_back(member_node(file, path));
      } catch (const FormatError& broken) {  // one broken object does not hide the others
        unreadable(path, std::string(broken.finding()));
      }
    }
    if (!visited) unreadable("/", problem);
    return nodes;
  });
}

template <class Number>
std::vector<Number> Hdf5File::numbers(const std::string& dataset) const {
  std::vector<Number> values;
  read_named(dataset, [&] {
    opened_->read<Number>(dataset, nullptr, [&](std::size_t entries) {
      values.resize(entries);
      return values.data();
    });
  });
  return values;
}

std::vector<std::string> Hdf5File::names(const std::string& group) const {
  return read_named(group, [&] { return names_in(hdf5_object(opened_->file.id(), group).id()); });
}

bool Hdf5File::has(const std::string& object) const {
  return read_named(object, [&] {
    try {
      return hdf5_object(opened_->file.id(), object).valid();
    } catch (const FormatError&) {
      return false;
    }
  });
}

Hdf5Node Hdf5File::node(const std::string& object) const {
  return read_named(object, [&] { return node_of(hdf5_object(opened_->file.id(), object), object); });
}

std::vector<std::string> Hdf5File::attribute_texts(const std::string& object, const std::string& attribute) const {
  return read_named(object,
                    [&] { return hdf5_attribute_texts(hdf5_object(opened_->file.id(), object).id(), attribute); });
}

std::vector<std::string> Hdf5File::scales(const std::string& dataset) const {
  return read_named(dataset, [&] { return scales_of(opened_->dataset(dataset)); });
}

std::vector<double> Hdf5File::doubles(const std::string& dataset) const {
  return numbers<double>(dataset);
}

std::vector<float> Hdf5File::floats(const std::string& dataset) const {
  return numbers<float>(dataset);
}

void Hdf5File::read(const std::string& dataset, const ArrayBlock& block, const FloatRoom& room) const {
  read_named(dataset, [&] { opened_->read<float>(dataset, &block, room); });
}

std::vector<std::int64_t> Hdf5File::integers(const std::string& dataset) const {
  std::vector<std::int64_t> values = numbers<std::int64_t>(dataset);
  read_named(dataset, [&] {
    if (could_overflow(opened_->dataset(dataset)) &&
        std::ranges::any_of(values, [](std::int64_t value) { return value < 0; }))
      throw FormatError("an unsigned integer does not fit in 64 bits with a sign");
  });
  return values;
}

std::vector<std::string> Hdf5File::strings(const std::string& dataset) const {
  return read_named(dataset, [&] { return opened_->dataset(dataset).strings(opened_->bytes); });
}

}  // namespace headwave
