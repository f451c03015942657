#include "stored_arrays.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <mutex>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "../../core/errors/error.h"
#include "../../core/errors/nearest_name.h"
#include "../files/file_content.h"
#include "../files/foreign_files.h"
#include "../files/printable.h"
#include "../hdf5/hdf5_file.h"
#include "placed_arrays.h"

namespace headwave {

namespace {

class Hdf5Arrays : public StoredArrays {
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
  [[nodiscard]] std::map<std::string, std::string> captured() const override {
    std::map<std::string, std::string> captured;
    if (!file_.has("/provenance")) return captured;
    const Attributes provenance = file_.attributes("/provenance");
    for (const char* name : {"interventions", "model_sha256"})
      if (std::string noted = attribute_text(provenance, name); !noted.empty()) captured[name] = std::move(noted);
    return captured;
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

/// The nearest names first; all of them where they are few.
std::vector<std::string> nearest_first(const std::string& name, std::vector<std::string> names, std::size_t most) {
  std::ranges::stable_sort(names, {}, [&](const std::string& other) { return edit_distance(name, other); });
  if (names.size() > most) names.resize(most);
  return names;
}

}  // namespace

std::vector<float> StoredArrays::block(const std::string& name, const ArrayBlock& block) const {
  std::vector<float> values;
  read(name, block, room_in(values));
  return values;
}

std::string no_such_array(const StoredArrays& arrays, const std::string& name, const std::string& what) {
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

std::unique_ptr<StoredArrays> open_stored_arrays(const std::filesystem::path& path) {
  if (std::filesystem::is_directory(path)) return npy_folder_arrays(path);
  const FileContent content = content_of_file(path);
  const std::string ending = path.extension().string();
  // What is called .npy, .h5 or .safetensors and is none is told by who reads these.
  if (content == FileContent::hdf5 || ending == ".h5") return std::make_unique<Hdf5Arrays>(path);
  if (content == FileContent::npy || ending == ".npy") return npy_file_arrays(path);
  if (content == FileContent::npz) return npz_arrays(path);
  if (content == FileContent::safetensors || ending == ".safetensors") return safetensors_arrays(path);
  throw foreign_states(path);
}

}  // namespace headwave
