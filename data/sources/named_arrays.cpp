#include "named_arrays.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

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

void NamedArrays::add(const std::string& name, std::string type, std::vector<Index> shape) {
  names_.push_back(name);
  arrays_[name] = {std::move(type), std::move(shape)};
}

const NamedArrays::Array& NamedArrays::array(const std::string& name) const {
  const auto found = arrays_.find(name);
  if (found == arrays_.end()) throw FormatError(no_such_array(*this, name, "an array"));
  return found->second;
}

std::string NamedArrays::called(const std::string& name) const {
  return fmt::format("{}: '{}'", shown_path(path_), printable(name));
}

std::vector<float> NamedArrays::block(const std::string& name, const ArrayBlock& block) const {
  std::vector<float> values;
  read(name, block, room_in(values));
  return values;
}

std::optional<double> NamedArrays::number(const std::string& name) const {
  std::optional<double> value = attribute(name);
  if (!value && has(name)) value = entries_of(whole_block(shape(name))) == 1 ? floats(name).front() : std::nan("");
  if (value && !std::isfinite(*value)) throw FormatError(fmt::format("{} is not one finite number", called(name)));
  return value;
}

std::string no_such_array(const NamedArrays& arrays, const std::string& name, const std::string& what) {
  constexpr std::size_t most_named = 6, longest = 100;
  std::vector<std::string> names = arrays.names();
  const std::size_t all = names.size();
  std::ranges::stable_sort(
      names, {}, [near = name.substr(0, longest)](const std::string& other) { return edit_distance(near, other); });
  names.resize(std::min(all, most_named));
  std::string list;
  for (const std::string& other : names) list += fmt::format("{}'{}'", list.empty() ? "" : ", ", printable(other, 60));
  return fmt::format("{}: there is no '{}' for {}; {}{}", shown_path(arrays.path()), printable(name), what,
                     names.empty() ? "it holds no arrays" : "there are " + list,
                     all > names.size() ? fmt::format(" and {} more", all - names.size()) : "");
}

namespace {

namespace fs = std::filesystem;

class Hdf5Arrays : public NamedArrays {
 public:
  explicit Hdf5Arrays(const fs::path& path) : NamedArrays(path, {path}), file_(path) {
    for (Hdf5Node& node : file_.tree()) {
      if (node.kind == "dataset") add(node.path.substr(1), std::move(node.dtype), std::move(node.shape));
      if (node.path == "/") attributes_ = std::move(node.attributes);
    }
  }
  void read(const std::string& name, const ArrayBlock& block, const FloatRoom& room) const override {
    file_.read("/" + name, block, room);
  }
  [[nodiscard]] std::vector<std::string> texts(const std::string& name) const override {
    return file_.strings("/" + name);
  }

 private:
  [[nodiscard]] std::optional<double> attribute(const std::string& name) const override {
    const auto found = attributes_.find(name);
    if (found == attributes_.end()) return {};
    if (const auto* whole = std::get_if<std::int64_t>(&found->second)) return static_cast<double>(*whole);
    // numpy's array([2]) is a list of one.
    if (const auto* list = std::get_if<std::vector<double>>(&found->second); list != nullptr && list->size() == 1)
      return list->front();
    const auto* real = std::get_if<double>(&found->second);
    return real != nullptr ? *real : std::nan("");
  }

  Hdf5File file_;
  Attributes attributes_;
};

/// Arrays of .npy files, or that lie in a file as in one.
class PlacedArrays : public NamedArrays {
 public:
  using NamedArrays::NamedArrays;

  /// @param bytes  empty: of the file, opened whenever it is read, for there can be more files than may be open
  void place(const std::string& name, NpyInfo info, const fs::path& file, std::optional<FileBytes> bytes) {
    add(name, info.number ? name_of(*info.number) : info.dtype, info.shape);
    placed_[name] = {std::move(info), file, std::move(bytes)};
  }
  void set_metadata(std::map<std::string, std::string> metadata) { metadata_ = std::move(metadata); }

  void read(const std::string& name, const ArrayBlock& block, const FloatRoom& room) const override {
    const PlacedNumbers numbers = placed_numbers(placed(name).info, called(name));
    try {
      read_block(opened(name), numbers, block, room);
    } catch (const ShapeError& problem) {
      throw ShapeError(fmt::format("{} {}", called(name), problem.finding()), problem.remedies());
    }
  }
  [[nodiscard]] std::vector<std::string> texts(const std::string& name) const override {
    return npy_texts(opened(name), placed(name).info, called(name));
  }

 private:
  struct Placed {
    NpyInfo info;
    fs::path file;
    std::optional<FileBytes> bytes;
  };
  [[nodiscard]] const Placed& placed(const std::string& name) const {
    (void)shape(name);  // refuses a name that is not there
    return placed_.at(name);
  }
  [[nodiscard]] FileBytes opened(const std::string& name) const {
    const Placed& array = placed(name);
    return array.bytes ? *array.bytes : FileBytes(array.file);
  }
  [[nodiscard]] std::optional<double> attribute(const std::string& name) const override {
    const auto found = metadata_.find(name);
    return found == metadata_.end() ? std::nullopt
                                    : std::optional(decimal_number(found->second).value_or(std::nan("")));
  }

  std::map<std::string, Placed> placed_;
  std::map<std::string, std::string> metadata_;
};

/// @param files  not empty
std::unique_ptr<NamedArrays> npy_arrays(const fs::path& path, const std::vector<fs::path>& files) {
  auto arrays = std::make_unique<PlacedArrays>(path, files);
  for (const fs::path& file : files) arrays->place(file.stem().string(), npy_info(file), file, {});
  return arrays;
}

std::unique_ptr<NamedArrays> npy_folder_arrays(const fs::path& folder) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(folder))
    if (entry.path().extension() == ".npy") files.push_back(entry.path());
  std::ranges::sort(files);
  if (files.empty())
    throw FormatError(fmt::format(
        "{}: no .npy file in this folder; expected stored states, as hidden_states_layer_0.npy or in one file of "
        "HDF5, .npz or safetensors",
        shown_path(folder)));
  return npy_arrays(folder, files);
}

std::unique_ptr<NamedArrays> npz_arrays(const fs::path& path) {
  auto arrays = std::make_unique<PlacedArrays>(path, std::vector{path});
  const FileBytes file(path);
  for (const ZipMember& member : zip_members(file)) {
    if (!member.name.ends_with(".npy")) continue;
    require_check_sum(file, member);
    const std::string name = member.name.substr(0, member.name.size() - 4);
    const FileBytes bytes = file.part(member.first, member.bytes);
    arrays->place(name, npy_info(bytes, arrays->called(name)), path, bytes);
  }
  return arrays;
}

std::unique_ptr<NamedArrays> safetensors_arrays(const fs::path& path) {
  auto arrays = std::make_unique<PlacedArrays>(path, std::vector{path});
  const FileBytes file(path);
  SafetensorsHeader header = safetensors_header(file);
  for (const TensorInfo& tensor : header.tensors)
    arrays->place(
        tensor.name,
        {tensor.shape, tensor.dtype, tensor.dtype, false, false, header.data + tensor.begin, number_type(tensor.dtype)},
        path, file);
  arrays->set_metadata(std::move(header.metadata));
  return arrays;
}

}  // namespace

std::unique_ptr<NamedArrays> open_arrays(const fs::path& path) {
  if (fs::is_directory(path)) return npy_folder_arrays(path);
  const FileContent content = content_of_file(path);
  const std::string ending = path.extension().string();
  // The readers of .npy, .h5 and .safetensors refuse files that only have the name.
  if (content == FileContent::hdf5 || ending == ".h5") return std::make_unique<Hdf5Arrays>(path);
  if (content == FileContent::npy || ending == ".npy") return npy_arrays(path, {path});
  if (content == FileContent::npz) return npz_arrays(path);
  if (content == FileContent::safetensors || ending == ".safetensors") return safetensors_arrays(path);
  throw foreign_file(path, expected_states);
}

}  // namespace headwave
