#include "safetensors.h"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <optional>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "../../core/errors/error.h"
#include "../files/file_content.h"
#include "../files/foreign_files.h"
#include "../files/json_file.h"
#include "../files/printable.h"

namespace headwave {

namespace {

namespace fs = std::filesystem;

constexpr const char* single_name = "model.safetensors";
constexpr const char* index_name = "model.safetensors.index.json";

/// The largest file is the model: others may hold an optimizer's state or training arguments.
std::optional<fs::path> largest_foreign(const std::vector<fs::path>& files) {
  std::optional<fs::path> largest;
  std::uintmax_t most = 0;
  for (const fs::path& file : files) {
    std::error_code problem;
    const std::uintmax_t size = fs::file_size(file, problem);
    if (problem || !is_foreign_weights_name(file) || (largest && size <= most)) continue;
    largest = file;
    most = size;
  }
  return largest;
}

[[noreturn]] void refuse_folder(const fs::path& folder) {
  std::vector<fs::path> files;
  for (std::error_code ended; const auto& entry : fs::directory_iterator(folder, ended)) files.push_back(entry.path());
  std::ranges::sort(files);
  const auto tensors = std::ranges::find(files, ".safetensors", [](const fs::path& p) { return p.extension(); });
  if (tensors != files.end())
    throw FormatError(fmt::format("{}: found neither {} nor {}; to read {}, give that file's path", shown_path(folder),
                                  single_name, index_name, printable(tensors->filename().string())));
  if (const auto foreign = largest_foreign(files)) throw foreign_weights(*foreign);
  throw FormatError(
      fmt::format("{}: no weights in this folder: looked for {} and {}", shown_path(folder), single_name, index_name));
}

// Shards lie beside their index; a name that leads elsewhere is an attack or a mistake.
bool is_plain_name(const std::string& name) {
  return !name.empty() && name != "." && name != ".." && name.find_first_of(std::string_view("/\\\0", 3)) == name.npos;
}

std::optional<NumberType> real_type(const std::string& dtype) {
  return dtype.starts_with('F') || dtype == "BF16" ? number_type(dtype) : std::nullopt;
}

}  // namespace

Checkpoint::Checkpoint(const fs::path& path) : path_(path) {
  std::error_code ignored;
  if (!fs::is_directory(path, ignored)) {
    if (path.string().ends_with(".safetensors.index.json")) {
      open_sharded(path);
      return;
    }
    // The reader of safetensors says what is wrong with a file of that name.
    if (path.extension() != ".safetensors" && content_of_file(path) != FileContent::safetensors)
      throw foreign_weights(path);
    open_single(path);
  } else if (fs::exists(path / single_name, ignored)) {
    open_single(path / single_name);
  } else if (fs::exists(path / index_name, ignored)) {
    open_sharded(path / index_name);
  } else {
    refuse_folder(path);
  }
}

Checkpoint::Checkpoint(const std::string& called, const std::vector<TensorInMemory>& tensors,
                       std::shared_ptr<const void> owner)
    : path_(called), owner_(std::move(owner)) {
  for (const TensorInMemory& tensor : tensors) {
    const TensorInfo& info =
        in_memory_.emplace_back(TensorInfo{tensor.name, tensor.dtype, tensor.shape, 0, tensor.bytes.size()});
    const std::optional<NumberType> type = number_type(tensor.dtype);
    if (!type || tensor.bytes.size() != static_cast<std::size_t>(info.size()) * size_of(*type))
      throw FormatError(fmt::format("{}: tensor '{}' of {} has {} bytes, its shape {} says otherwise; give it whole",
                                    called, printable(tensor.name), tensor.dtype, tensor.bytes.size(),
                                    shape_text(tensor.shape)));
    if (!places_.emplace(tensor.name, Place{tensor.bytes, &info, nullptr}).second)
      throw FormatError(fmt::format("{}: two tensors are called '{}'", called, printable(tensor.name)));
    names_.push_back(tensor.name);
  }
}

void Checkpoint::open_single(const fs::path& path) {
  const auto& file = *(files_[path.filename().string()] = std::make_unique<SafetensorsFile>(path));
  for (const TensorInfo& tensor : file.tensors()) {
    places_.emplace(tensor.name, Place{file.bytes(tensor), &tensor, &file});
    names_.push_back(tensor.name);
  }
}

void Checkpoint::open_sharded(const fs::path& index) {
  const auto take = [&](const std::string& name, const nlohmann::json& shard) {
    if (!shard.is_string() || !is_plain_name(shard.get_ref<const std::string&>()))
      throw FormatError(fmt::format("{}: tensor '{}' must be mapped to the name of a file in the same folder",
                                    shown_path(index), printable(name)));
    const auto& shard_name = shard.get_ref<const std::string&>();
    std::unique_ptr<SafetensorsFile>& file = files_[shard_name];
    if (!file) file = std::make_unique<SafetensorsFile>(index.parent_path() / shard_name);
    const TensorInfo* tensor = file->find(name);
    if (tensor == nullptr)
      throw FormatError(
          fmt::format("{}: tensor '{}' is said to be in {}, which does not hold it: the shards do not belong "
                      "together",
                      shown_path(index), printable(name), printable(shard_name)));
    if (!places_.emplace(name, Place{file->bytes(*tensor), tensor, file.get()}).second)
      refuse_second_key(shown_path(index), name);
  };
  const nlohmann::json json =
      json_of_file(index, {.max_bytes = std::size_t{100} << 20U, .takers = {{{"weight_map"}, take}}});
  if (!json.is_object() || !json.contains("weight_map") || !json["weight_map"].is_object() || places_.empty())
    throw FormatError(fmt::format("{}: expected an object 'weight_map' from tensor names to files", shown_path(index)));
  for (const auto& [shard_name, file] : files_)
    for (const TensorInfo& tensor : file->tensors())
      if (const auto found = places_.find(tensor.name); found != places_.end() && found->second.info == &tensor)
        names_.push_back(tensor.name);
}

std::vector<fs::path> Checkpoint::files() const {
  std::vector<fs::path> paths;
  for (const auto& [name, file] : files_) paths.push_back(file->path());
  return paths;
}

Index Checkpoint::parameters() const {
  return std::accumulate(places_.begin(), places_.end(), Index{0},
                         [](Index sum, const auto& entry) { return sum + entry.second.info->size(); });
}

const Checkpoint::Place& Checkpoint::place(const std::string& name) const {
  const auto found = places_.find(name);
  if (found == places_.end())
    throw FormatError(
        fmt::format("{}: there is no tensor '{}' among the {} stored: config.json (or the map) and the weights do not "
                    "belong together",
                    shown_path(path_), printable(name), places_.size()));
  return found->second;
}

const TensorInfo& Checkpoint::info(const std::string& name) const {
  return *place(name).info;
}

namespace {

/// A shape without leading axes of one entry, down to so many axes.
std::vector<Index> without_ones(std::vector<Index> shape, std::size_t axes) {
  while (shape.size() > axes && axes > 1 && shape.front() == 1) shape.erase(shape.begin());
  return shape;
}

}  // namespace

std::string Checkpoint::shown_file(const Place& tensor) const {
  return shown_path(tensor.file != nullptr ? tensor.file->path() : path_);
}

void Checkpoint::require(const std::string& name, const std::vector<Index>& shape) const {
  const Place& tensor = place(name);
  if (without_ones(tensor.info->shape, shape.size()) != shape)
    throw FormatError(
        fmt::format("{}: tensor '{}' has shape {}, expected {}: config.json (or the map) and the weights do not "
                    "belong together",
                    shown_file(tensor), printable(name), shape_text(tensor.info->shape), shape_text(shape)));
  require_real(tensor);
}

void Checkpoint::require_real(const Place& tensor) const {
  if (!real_type(tensor.info->dtype))
    throw FormatError(
        fmt::format("{}: tensor '{}' is {}, expected F32, F16, BF16 or F64: quantised or integer weights are not "
                    "read, save the model in float32",
                    shown_file(tensor), printable(tensor.info->name), tensor.info->dtype));
}

std::function<void(Index first, Index count, float* out)> Checkpoint::row_reader(const std::string& name) const {
  const Place& tensor = place(name);
  require_real(tensor);
  const std::size_t columns = tensor.info->shape.empty() ? 1 : static_cast<std::size_t>(tensor.info->shape.back());
  return [&tensor, columns, type = *real_type(tensor.info->dtype)](Index first, Index count, float* out) {
    const std::size_t entries = static_cast<std::size_t>(count) * columns,
                      from = static_cast<std::size_t>(first) * columns * size_of(type);
    const auto put = [&](std::span<const std::byte> bytes) {
      put_floats(bytes, type, ByteOrder::little, {out, entries});
    };
    if (tensor.file == nullptr) return put(tensor.bytes.subspan(from, entries * size_of(type)));
    std::vector<std::byte> read(entries * size_of(type));
    tensor.file->read(*tensor.info, from, read);
    put(read);
  };
}

const float* Checkpoint::values(const std::string& name, const std::vector<Index>& shape,
                                ConvertedTensors* converted) const {
  require(name, shape);
  const auto& [bytes, tensor, file] = place(name);
  const NumberType type = *real_type(tensor->dtype);
  if (type == NumberType::f32 && reinterpret_cast<std::uintptr_t>(bytes.data()) % alignof(float) == 0)
    return reinterpret_cast<const float*>(bytes.data());
  ConvertedTensors& kept = converted != nullptr ? *converted : converted_;
  const std::lock_guard lock(kept.converting);
  const auto [found, is_new] = kept.values.try_emplace(name);
  if (is_new) {
    found->second = floats_of(bytes, type);
    if (file != nullptr) file->let_go(*tensor);
  }
  return found->second.data();
}

MatrixView32 Checkpoint::matrix(const std::string& name, Index rows, Index cols, ConvertedTensors* converted) const {
  return {values(name, {rows, cols}, converted), rows, cols};
}

MatrixView32 Checkpoint::matrix(const std::string& name, const std::vector<Index>& shape,
                                ConvertedTensors* converted) const {
  const float* first = values(name, shape, converted);
  const Index rows = shape.front();
  return {first, rows, info(name).size() / rows};
}

VectorView32 Checkpoint::vector(const std::string& name, Index size, ConvertedTensors* converted) const {
  return {values(name, {size}, converted), size};
}

void Checkpoint::let_go(const std::string& name) const {
  const Place& tensor = place(name);
  if (tensor.file != nullptr) tensor.file->let_go(*tensor.info);
}

Index Checkpoint::non_finite(const std::string& name) const {
  const Place& tensor = place(name);
  const std::optional<NumberType> type = real_type(tensor.info->dtype);
  return type ? static_cast<Index>(non_finite_of(tensor.bytes, *type)) : 0;
}

}  // namespace headwave
