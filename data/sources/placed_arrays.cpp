#include "placed_arrays.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <functional>
#include <map>
#include <mutex>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "../../core/errors/error.h"
#include "../arrays/npy.h"
#include "../arrays/safetensors_file.h"
#include "../files/printable.h"
#include "../files/zip_archive.h"

namespace headwave {

namespace {

namespace fs = std::filesystem;

/// An array by where it lies, once its header was read.
struct PlacedArray {
  std::shared_ptr<const ReadableBytes> bytes;
  NpyInfo info;  ///< of a tensor what fits
};

/// A member of an archive that it keeps open.
class MemberBytes : public ZipBytes {
 public:
  MemberBytes(std::shared_ptr<const FileBytes> file, ZipMember member)
      : ZipBytes(*file, std::move(member)), file_(std::move(file)) {}

 private:
  std::shared_ptr<const FileBytes> file_;
};

/// An array's bytes in memory that is somebody else's.
class BorrowedBytes : public ReadableBytes {
 public:
  BorrowedBytes(std::span<const std::byte> bytes, std::shared_ptr<const void> owner)
      : bytes_(bytes), owner_(std::move(owner)) {}
  [[nodiscard]] std::size_t size() const override { return bytes_.size(); }
  void read(std::size_t first, std::span<std::byte> into) const override {
    if (into.size() > bytes_.size() || first > bytes_.size() - into.size())
      throw IoError("an array in memory is shorter than its shape says");
    std::ranges::copy(bytes_.subspan(first, into.size()), into.begin());
  }

 private:
  std::span<const std::byte> bytes_;
  std::shared_ptr<const void> owner_;
};

/// Arrays that a function opens by name, each once.
class PlacedArrays : public StoredArrays {
 public:
  using Open = std::function<PlacedArray(const std::string& called)>;
  explicit PlacedArrays(fs::path path) : path_(std::move(path)) {}

  /// @param file  empty: it is in none
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
    const PlacedArray& placed = array(name);
    try {
      read_block(*placed.bytes, placed_numbers(placed.info, without_colon(called(name))), block, room);
    } catch (const ShapeError& problem) {
      throw ShapeError(fmt::format("{} {}", called(name), problem.what()));
    }
  }
  [[nodiscard]] std::vector<std::string> texts(const std::string& name) const override {
    if (!has(name)) return {};
    const PlacedArray& placed = array(name);
    return npy_texts(*placed.bytes, placed.info, without_colon(called(name)));
  }
  [[nodiscard]] std::optional<double> number(const std::string& name) const override {
    double value = std::nan("");
    if (const auto found = texts_.find(name); found != texts_.end()) {
      const std::string& text = found->second;
      const auto [stop, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
      if (problem != std::errc() || stop != text.data() + text.size()) value = std::nan("");
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
    std::optional<PlacedArray> placed;
  };
  static std::string without_colon(std::string called) {
    if (called.ends_with(':')) called.pop_back();
    return called;
  }
  [[nodiscard]] const PlacedArray& array(const std::string& name) const {
    const auto found = arrays_.find(name);
    if (found == arrays_.end()) throw FormatError(no_such_array(*this, name, "an array"));
    const std::lock_guard lock(opening_);
    Entry& entry = found->second;
    if (!entry.placed) entry.placed = entry.open(without_colon(entry.called));
    return *entry.placed;
  }

  fs::path path_;
  std::vector<std::string> names_;
  std::vector<fs::path> files_;
  std::map<std::string, std::string> texts_;
  mutable std::mutex opening_;
  mutable std::map<std::string, Entry> arrays_;
};

PlacedArray npy_array(std::shared_ptr<const ReadableBytes> bytes, const std::string& called) {
  NpyInfo info = npy_info(*bytes, called);
  return {std::move(bytes), std::move(info)};
}

void add_npy(PlacedArrays& arrays, const fs::path& file) {
  arrays.add(file.stem().string(), shown_path(file) + ":", file,
             [file](const std::string& called) { return npy_array(std::make_shared<const FileBytes>(file), called); });
}

}  // namespace

std::unique_ptr<StoredArrays> npy_file_arrays(const fs::path& path) {
  npy_info(path);  // what is wrong with it is told now
  auto arrays = std::make_unique<PlacedArrays>(path);
  add_npy(*arrays, path);
  return arrays;
}

std::unique_ptr<StoredArrays> npy_folder_arrays(const fs::path& folder) {
  auto arrays = std::make_unique<PlacedArrays>(folder);
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(folder))
    if (entry.path().extension() == ".npy") files.push_back(entry.path());
  std::ranges::sort(files);
  for (const fs::path& file : files) add_npy(*arrays, file);
  return arrays;
}

std::unique_ptr<StoredArrays> npz_arrays(const fs::path& path) {
  auto arrays = std::make_unique<PlacedArrays>(path);
  const auto file = std::make_shared<const FileBytes>(path);
  for (const ZipMember& member : zip_members(*file)) {
    if (!member.name.ends_with(".npy")) continue;
    const std::string name = member.name.substr(0, member.name.size() - 4);
    arrays->add(name, fmt::format("{}: '{}'", shown_path(path), printable(name)), path,
                [file, member](const std::string& called) {
                  return npy_array(std::make_shared<const MemberBytes>(file, member), called);
                });
  }
  return arrays;
}

std::unique_ptr<StoredArrays> safetensors_arrays(const fs::path& path) {
  auto arrays = std::make_unique<PlacedArrays>(path);
  const auto file = std::make_shared<const FileBytes>(path);
  const SafetensorsHeader header = safetensors_header(*file);
  for (const TensorInfo& tensor : header.tensors) {
    NpyInfo info{
        tensor.shape, tensor.dtype, tensor.dtype, false, false, header.data + tensor.begin, number_type(tensor.dtype)};
    arrays->add(tensor.name, fmt::format("{}: '{}'", shown_path(path), printable(tensor.name)), path,
                [file, info](const std::string&) {
                  return PlacedArray{file, info};
                });
  }
  for (const auto& [name, text] : header.metadata) arrays->add_number(name, text);
  return arrays;
}

std::unique_ptr<StoredArrays> arrays_in_memory(const std::string& called, const std::vector<ArrayInMemory>& arrays,
                                               const std::shared_ptr<const void>& owner) {
  auto placed = std::make_unique<PlacedArrays>(called);
  for (const ArrayInMemory& array : arrays) {
    if (placed->has(array.name))
      throw FormatError(fmt::format("{}: two arrays are called '{}'", called, printable(array.name)));
    placed->add(
        array.name, fmt::format("{}: '{}'", called, printable(array.name)), {},
        [bytes = std::make_shared<const BorrowedBytes>(array.bytes, owner), info = array.info](const std::string&) {
          return PlacedArray{bytes, info};
        });
  }
  return placed;
}

}  // namespace headwave
