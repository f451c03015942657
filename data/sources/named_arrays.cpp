#include "named_arrays.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <mutex>
#include <numeric>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "../../core/errors/error.h"
#include "../../core/errors/nearest_name.h"
#include "../../core/numbers/decimal_number.h"
#include "../arrays/npy.h"
#include "../arrays/safetensors.h"
#include "../files/file_content.h"
#include "../files/printable.h"
#include "../files/zip_archive.h"
#include "../hdf5/hdf5_file.h"

namespace headwave {

namespace {

class Hdf5Arrays : public NamedArrays {
 public:
  explicit Hdf5Arrays(const std::filesystem::path& path) : file_(path) {}

  [[nodiscard]] std::vector<std::string> names() const override {
    std::vector<std::string> names;
    for (const Hdf5Node& node : file_.tree())
      if (node.kind == "dataset") names.push_back(node.path.substr(1));
    return names;
  }
  [[nodiscard]] bool has(const std::string& name) const override { return file_.has("/" + name); }
  [[nodiscard]] std::vector<Index> shape(const std::string& name) const override {
    const std::lock_guard lock(asking_);
    const auto known = shapes_.find(name);
    if (known != shapes_.end()) return known->second;
    return shapes_[name] = file_.node("/" + name).shape;
  }
  [[nodiscard]] std::string type(const std::string& name) const override { return file_.node("/" + name).dtype; }
  void read(const std::string& name, const ArrayBlock& block, const FloatRoom& room) const override {
    file_.read("/" + name, block, room);
  }
  [[nodiscard]] std::vector<std::string> texts(const std::string& name) const override {
    return has(name) ? file_.strings("/" + name) : std::vector<std::string>{};
  }
  [[nodiscard]] std::optional<double> number(const std::string& name) const override {
    const Attributes attributes = file_.attributes("/");
    const auto found = attributes.find(name);
    if (found == attributes.end()) return {};
    if (const auto* whole = std::get_if<std::int64_t>(&found->second)) return static_cast<double>(*whole);
    const auto* real = std::get_if<double>(&found->second);
    // numpy's array([2]) is a list of one.
    if (const auto* list = std::get_if<std::vector<double>>(&found->second); list != nullptr && list->size() == 1)
      real = list->data();
    if (real == nullptr || !std::isfinite(*real))
      throw FormatError(fmt::format("{}: attribute '{}' is not one finite number", path().string(), name));
    return *real;
  }
  [[nodiscard]] std::vector<std::filesystem::path> files() const override { return {file_.path()}; }
  [[nodiscard]] const std::filesystem::path& path() const override { return file_.path(); }
  [[nodiscard]] std::string called(const std::string& name) const override {
    return fmt::format("{}: '{}'", path().string(), name);
  }

 private:
  Hdf5File file_;
  mutable std::mutex asking_;
  mutable std::map<std::string, std::vector<Index>> shapes_;  // asked for anew for every document
};

/// The nearest names, the nearest first.
std::vector<std::string> nearest_first(const std::string& name, std::vector<std::string> names, std::size_t most) {
  std::ranges::stable_sort(names, {}, [&](const std::string& other) { return edit_distance(name, other); });
  if (names.size() > most) names.resize(most);
  return names;
}

namespace fs = std::filesystem;

/// The bytes of an array, and what its header says.
struct OpenedArray {
  std::shared_ptr<const ReadableBytes> bytes;
  NpyInfo info;  ///< of a tensor the same facts
};

/// Arrays that are opened when they are first used.
class OpenedArrays : public NamedArrays {
 public:
  using Open = std::function<OpenedArray(const std::string& called)>;
  explicit OpenedArrays(fs::path path) : path_(std::move(path)) {}

  /// @param file  empty: the array is in memory
  void add(const std::string& name, std::string called, fs::path file, Open open) {
    names_.push_back(name);
    if (!file.empty() && std::ranges::find(files_, file) == files_.end()) files_.push_back(std::move(file));
    arrays_[name] = {std::move(called), std::move(open), {}};
  }
  void add_number(const std::string& name, const std::string& text) { texts_[name] = text; }

  [[nodiscard]] std::vector<std::string> names() const override { return names_; }
  [[nodiscard]] bool has(const std::string& name) const override { return arrays_.contains(name); }
  [[nodiscard]] std::vector<Index> shape(const std::string& name) const override { return array(name).info.shape; }
  [[nodiscard]] std::string type(const std::string& name) const override {
    const NpyInfo& info = array(name).info;
    return info.number ? name_of(*info.number) : info.dtype;
  }
  void read(const std::string& name, const ArrayBlock& block, const FloatRoom& room) const override {
    const OpenedArray& placed = array(name);
    try {
      read_block(*placed.bytes, placed_numbers(placed.info, called(name)), block, room);
    } catch (const ShapeError& problem) {
      throw ShapeError(fmt::format("{} {}", called(name), problem.finding()), problem.remedies());
    }
  }
  [[nodiscard]] std::vector<std::string> texts(const std::string& name) const override {
    if (!has(name)) return {};
    const OpenedArray& placed = array(name);
    return npy_texts(*placed.bytes, placed.info, called(name));
  }
  [[nodiscard]] std::optional<double> number(const std::string& name) const override {
    double value = std::nan("");
    if (const auto found = texts_.find(name); found != texts_.end()) {
      value = decimal_number(found->second).value_or(value);
    } else if (!has(name)) {
      return {};
    } else if (const std::vector<Index> shape = this->shape(name);
               std::accumulate(shape.begin(), shape.end(), Index{1}, std::multiplies<Index>()) == 1) {
      value = static_cast<double>(floats(name).front());
    }
    if (!std::isfinite(value))
      throw FormatError(fmt::format("{}: '{}' is not one finite number", shown_path(path_), printable(name)));
    return value;
  }
  [[nodiscard]] std::vector<fs::path> files() const override { return files_; }
  [[nodiscard]] const fs::path& path() const override { return path_; }
  [[nodiscard]] std::string called(const std::string& name) const override {
    const auto found = arrays_.find(name);
    return found == arrays_.end() ? fmt::format("{}: '{}'", shown_path(path_), printable(name)) : found->second.called;
  }

 private:
  struct Entry {
    std::string called;
    Open open;
    std::optional<OpenedArray> placed;
  };
  [[nodiscard]] const OpenedArray& array(const std::string& name) const {
    const auto found = arrays_.find(name);
    if (found == arrays_.end()) throw FormatError(no_such_array(*this, name, "an array"));
    const std::lock_guard lock(opening_);
    Entry& entry = found->second;
    if (!entry.placed) entry.placed = entry.open(entry.called);
    return *entry.placed;
  }

  fs::path path_;
  std::vector<std::string> names_;
  std::vector<fs::path> files_;
  std::map<std::string, std::string> texts_;
  mutable std::mutex opening_;
  mutable std::map<std::string, Entry> arrays_;
};

OpenedArray npy_array(std::shared_ptr<const ReadableBytes> bytes, const std::string& called) {
  NpyInfo info = npy_info(*bytes, called);
  return {std::move(bytes), std::move(info)};
}

void add_npy(OpenedArrays& arrays, const fs::path& file) {
  arrays.add(file.stem().string(), shown_path(file), file,
             [file](const std::string& called) { return npy_array(std::make_shared<const FileBytes>(file), called); });
}

std::unique_ptr<NamedArrays> npy_file_arrays(const fs::path& path) {
  npy_info(path);  // what is wrong with it is told now
  auto arrays = std::make_unique<OpenedArrays>(path);
  add_npy(*arrays, path);
  return arrays;
}

std::unique_ptr<NamedArrays> npy_folder_arrays(const fs::path& folder) {
  auto arrays = std::make_unique<OpenedArrays>(folder);
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(folder))
    if (entry.path().extension() == ".npy") files.push_back(entry.path());
  std::ranges::sort(files);
  if (files.empty())
    throw FormatError(fmt::format(
        "{}: no .npy file in this folder; expected stored states, as hidden_states_layer_0.npy or in one file of "
        "HDF5, .npz or safetensors",
        shown_path(folder)));
  for (const fs::path& file : files) add_npy(*arrays, file);
  return arrays;
}

std::unique_ptr<NamedArrays> npz_arrays(const fs::path& path) {
  auto arrays = std::make_unique<OpenedArrays>(path);
  const auto file = std::make_shared<const FileBytes>(path);
  for (const ZipMember& member : zip_members(*file)) {
    if (!member.name.ends_with(".npy")) continue;
    const std::string name = member.name.substr(0, member.name.size() - 4);
    arrays->add(name, fmt::format("{}: '{}'", shown_path(path), printable(name)), path,
                [file, member](const std::string& called) {
                  return npy_array(std::make_shared<const ZipBytes>(file, member), called);
                });
  }
  return arrays;
}

std::unique_ptr<NamedArrays> safetensors_arrays(const fs::path& path) {
  auto arrays = std::make_unique<OpenedArrays>(path);
  const auto file = std::make_shared<const FileBytes>(path);
  const SafetensorsHeader header = safetensors_header(*file);
  for (const TensorInfo& tensor : header.tensors) {
    NpyInfo info{
        tensor.shape, tensor.dtype, tensor.dtype, false, false, header.data + tensor.begin, number_type(tensor.dtype)};
    arrays->add(tensor.name, fmt::format("{}: '{}'", shown_path(path), printable(tensor.name)), path,
                [file, info](const std::string&) {
                  return OpenedArray{file, info};
                });
  }
  for (const auto& [name, text] : header.metadata) arrays->add_number(name, text);
  return arrays;
}

}  // namespace

std::vector<float> NamedArrays::block(const std::string& name, const ArrayBlock& block) const {
  std::vector<float> values;
  read(name, block, room_in(values));
  return values;
}

std::string no_such_array(const NamedArrays& arrays, const std::string& name, const std::string& what) {
  constexpr std::size_t most_named = 6, longest = 100;
  std::vector<std::string> names = arrays.names();
  const std::size_t all = names.size();
  names = nearest_first(name.substr(0, longest), std::move(names), most_named);
  std::string list;
  for (const std::string& other : names) list += fmt::format("{}'{}'", list.empty() ? "" : ", ", printable(other, 60));
  return fmt::format("{}: there is no '{}' for {}; {}{}", shown_path(arrays.path()), printable(name), what,
                     names.empty() ? "it holds no arrays" : "there are " + list,
                     all > names.size() ? fmt::format(" and {} more", all - names.size()) : "");
}

std::unique_ptr<NamedArrays> open_arrays(const std::filesystem::path& path) {
  if (std::filesystem::is_directory(path)) return npy_folder_arrays(path);
  const FileContent content = content_of_file(path);
  const std::string ending = path.extension().string();
  // The readers of .npy, .h5 and .safetensors refuse files that only have the name.
  if (content == FileContent::hdf5 || ending == ".h5") return std::make_unique<Hdf5Arrays>(path);
  if (content == FileContent::npy || ending == ".npy") return npy_file_arrays(path);
  if (content == FileContent::npz) return npz_arrays(path);
  if (content == FileContent::safetensors || ending == ".safetensors") return safetensors_arrays(path);
  throw foreign_file(path, expected_states);
}

std::unique_ptr<NamedArrays> arrays_in_memory(const std::string& called, const std::vector<ArrayInMemory>& arrays,
                                              const std::shared_ptr<const void>& owner) {
  auto placed = std::make_unique<OpenedArrays>(called);
  for (const ArrayInMemory& array : arrays) {
    if (placed->has(array.name))
      throw FormatError(fmt::format("{}: two arrays are called '{}'", called, printable(array.name)));
    placed->add(
        array.name, fmt::format("{}: '{}'", called, printable(array.name)), {},
        [bytes = std::make_shared<const MemoryBytes>(array.bytes, owner), info = array.info](const std::string&) {
          return OpenedArray{bytes, info};
        });
  }
  return placed;
}

}  // namespace headwave
