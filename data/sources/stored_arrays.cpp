#include "stored_arrays.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "../../core/numbers/error.h"
#include "../arrays/npy.h"
#include "../files/file_content.h"
#include "../files/foreign_files.h"
#include "../hdf5/hdf5_file.h"

namespace headwave {

namespace {

class Hdf5Arrays : public StoredArrays {
 public:
  explicit Hdf5Arrays(const std::filesystem::path& path) : file_(path) {}

  [[nodiscard]] bool has(const std::string& name) const override { return file_.has("/" + name); }
  [[nodiscard]] std::vector<Index> shape(const std::string& name) const override {
    return file_.node("/" + name).shape;
  }
  [[nodiscard]] StoredArray read(const std::string& name, Index first, Index count) const override {
    std::vector<Index> shape = this->shape(name);
    if (count < 0 || shape.empty()) return {shape, file_.floats("/" + name)};
    shape.front() = count;
    return {shape, file_.floats("/" + name, first, count)};
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
};

/// "weights/layer_1/query" -> "layer_1_query.npy"; other names keep all their parts.
std::string npy_name(const std::string& name) {
  std::string flat = name.starts_with("weights/") ? name.substr(8) : name;
  std::replace(flat.begin(), flat.end(), '/', '_');
  return flat + ".npy";
}

class NpyArrays : public StoredArrays {
 public:
  /// @param single  what a lone .npy file stands for; empty where the path is a folder
  NpyArrays(std::filesystem::path path, std::string single) : path_(std::move(path)), single_(std::move(single)) {}

  [[nodiscard]] bool has(const std::string& name) const override {
    return single_.empty() ? std::filesystem::exists(file(name)) : name == single_;
  }
  [[nodiscard]] std::vector<Index> shape(const std::string& name) const override { return npy_info(file(name)).shape; }
  [[nodiscard]] StoredArray read(const std::string& name, Index first, Index count) const override {
    NpyArray<float> array = npy_floats(file(name));
    if (count < 0 || array.shape.empty()) return {array.shape, std::move(array.values)};
    const Index step = array.shape.front() == 0 ? 0 : static_cast<Index>(array.values.size()) / array.shape.front();
    if (first < 0 || first + count > array.shape.front())
      throw ShapeError(fmt::format("{}: no entries {} to {} among {}", file(name).string(), first, first + count - 1,
                                   array.shape.front()));
    array.shape.front() = count;
    return {array.shape, {array.values.begin() + first * step, array.values.begin() + (first + count) * step}};
  }
  [[nodiscard]] std::vector<std::string> texts(const std::string& /*name*/) const override { return {}; }
  [[nodiscard]] std::optional<double> number(const std::string& /*name*/) const override { return {}; }
  [[nodiscard]] std::vector<std::filesystem::path> files() const override {
    if (!single_.empty()) return {path_};
    std::vector<std::filesystem::path> files;
    for (const auto& entry : std::filesystem::directory_iterator(path_))
      if (entry.path().extension() == ".npy") files.push_back(entry.path());
    std::sort(files.begin(), files.end());
    return files;
  }
  [[nodiscard]] const std::filesystem::path& path() const override { return path_; }
  [[nodiscard]] std::string called(const std::string& name) const override { return file(name).string() + ":"; }

 private:
  [[nodiscard]] std::filesystem::path file(const std::string& name) const {
    return single_.empty() ? path_ / npy_name(name) : path_;
  }

  std::filesystem::path path_;
  std::string single_;
};

}  // namespace

std::unique_ptr<StoredArrays> open_stored_arrays(const std::filesystem::path& path, Index layer_of_single) {
  if (layer_of_single < 0)
    throw ShapeError(fmt::format("{}: the states enter layer {}, expected 0 or more", path.string(), layer_of_single));
  if (std::filesystem::is_directory(path)) return std::make_unique<NpyArrays>(path, "");
  const FileContent content = content_of_file(path);
  if (content == FileContent::hdf5) return std::make_unique<Hdf5Arrays>(path);
  // What is called .npy or .h5 and is none is told by who reads these.
  if (content != FileContent::npy && path.extension() == ".h5") return std::make_unique<Hdf5Arrays>(path);
  if (content != FileContent::npy && path.extension() != ".npy") throw FormatError(foreign_states(path));
  npy_info(path);
  return std::make_unique<NpyArrays>(path, fmt::format("hidden_states/layer_{}", layer_of_single));
}

}  // namespace headwave
