#include "safetensors.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "../../core/errors/error.h"
#include "../files/file_content.h"
#include "../files/json_file.h"
#include "../files/printable.h"
#include "../files/replaced_file.h"

namespace headwave {

namespace {

using nlohmann::json;

constexpr std::size_t longest_header = 100'000'000;

/// Bytes per entry of a type, including types that are only listed.
std::optional<std::size_t> bytes_per_entry(const std::string& dtype) {
  if (const std::optional<NumberType> type = number_type(dtype)) return size_of(*type);
  if (dtype == "C64") return 8;
  return dtype == "F8_E5M2" || dtype == "F8_E4M3" || dtype == "F8_E8M0" ? std::optional<std::size_t>(1) : std::nullopt;
}

/// Reads the header's entry for one tensor, and checks it.
/// @param place  "FILE: tensor 'NAME'"
TensorInfo tensor_info(const std::string& name, const json& described, const std::string& place,
                       std::size_t data_bytes) {
  const auto require = [&](bool sound, const std::string& problem) {
    if (!sound)
      throw FormatError(fmt::format("{}: {}: the file is damaged or was not written as safetensors", place, problem));
  };
  require(described.is_object(), "expected an object with dtype, shape and data_offsets");
  const JsonObject entry(described, place);
  const auto sizes = [&](const char* key) {
    const std::vector<json>& list = entry.list(key);
    std::vector<std::size_t> numbers;
    for (const json& number : list) {
      constexpr auto largest = static_cast<std::uint64_t>(std::numeric_limits<Index>::max());
      require(number.is_number_unsigned() && number.get<std::uint64_t>() <= largest,
              fmt::format("'{}' must hold whole numbers from 0 to 2^63 - 1", key));
      numbers.push_back(number.get<std::size_t>());
    }
    return numbers;
  };
  TensorInfo info{name, entry.text("dtype"), {}, 0, 0};
  const std::optional<std::size_t> width = bytes_per_entry(info.dtype);
  if (!width)
    throw FormatError(
        fmt::format("{}: the type '{}' is not known; save the tensor in float32", place, printable(info.dtype, 20)));
  std::size_t bytes = *width;
  for (const std::size_t size : sizes("shape")) {
    info.shape.push_back(static_cast<Index>(size));
    require(!__builtin_mul_overflow(bytes, size, &bytes), "the shape has more entries than any file can hold");
  }
  const std::vector<std::size_t> offsets = sizes("data_offsets");
  require(offsets.size() == 2, fmt::format("'data_offsets' must hold 2 numbers, found {}", offsets.size()));
  info.begin = offsets[0];
  info.end = offsets[1];
  require(info.begin <= info.end && info.end <= data_bytes,
          fmt::format("bytes {} to {} are not inside the {} bytes of data", info.begin, info.end, data_bytes));
  require(info.end - info.begin == bytes,
          fmt::format("{} of shape {} needs {} bytes, but the offsets give {}", info.dtype, shape_text(info.shape),
                      bytes, info.end - info.begin));
  return info;
}

}  // namespace

Index TensorInfo::size() const {
  Index product = 1;
  for (const Index size : shape) product *= size;
  return product;
}

SafetensorsHeader safetensors_header(const FileBytes& file) {
  const std::string name = shown_path(file.path());
  std::uint64_t length = 0;
  if (file.size() < sizeof length)
    throw FormatError(fmt::format("{}: has {} bytes, too few for a safetensors file", name, file.size()));
  require_no_pointer(file.text(0, 64), file.path());
  file.read(0, std::as_writable_bytes(std::span(&length, 1)));
  if (length > longest_header || length > file.size() - sizeof length)
    throw FormatError(
        fmt::format("{}: a safetensors header of {} bytes does not fit in the file of {} bytes: the file is cut "
                    "short, or not safetensors",
                    name, length, file.size()));
  SafetensorsHeader read{sizeof length + static_cast<std::size_t>(length), {}, {}};
  const std::string text = file.text(sizeof length, static_cast<std::size_t>(length));
  if (!text.starts_with('{'))
    throw FormatError(fmt::format("{}: expected a safetensors header, which begins with '{{'", name));
  const std::size_t data_bytes = file.size() - read.data;
  const json header = json_of_text(text, name);
  const auto place = [&](const std::string& tensor) { return fmt::format("{}: tensor '{}'", name, printable(tensor)); };
  for (const auto& [key, entry] : header.items())
    if (key != "__metadata__") read.tensors.push_back(tensor_info(key, entry, place(key), data_bytes));
  if (header.contains("__metadata__")) {
    const JsonObject texts = JsonObject(header, name).object("__metadata__");
    for (const auto& [label, value] : texts.value().items()) read.metadata[label] = text_of(value, texts.place());
  }

  std::ranges::sort(read.tensors, {}, [](const TensorInfo& t) { return std::tie(t.begin, t.end, t.name); });
  std::size_t filled = 0;
  for (const TensorInfo& tensor : read.tensors) {
    if (tensor.begin != filled)
      throw FormatError(
          fmt::format("{}: its bytes begin at {}, {} {}: the file is damaged", place(tensor.name), tensor.begin,
                      tensor.begin < filled ? "inside the tensor that ends at" : "leaving a gap after", filled));
    filled = tensor.end;
  }
  if (filled != data_bytes)
    throw FormatError(fmt::format("{}: the tensors fill {} bytes, but {} bytes follow the header: the file is damaged",
                                  name, filled, data_bytes));
  return read;
}

SafetensorsFile::SafetensorsFile(const std::filesystem::path& path)
    : file_(path), mapped_(file_), header_(safetensors_header(file_)) {}

std::span<const std::byte> SafetensorsFile::bytes(const TensorInfo& tensor) const {
  return mapped_.bytes().subspan(header_.data + tensor.begin, tensor.end - tensor.begin);
}

void SafetensorsFile::read(const TensorInfo& tensor, std::size_t first, std::span<std::byte> into) const {
  file_.read(header_.data + tensor.begin + first, into);
}

void SafetensorsFile::let_go(const TensorInfo& tensor) const {
  mapped_.let_go(header_.data + tensor.begin, tensor.end - tensor.begin);
}

namespace {

std::size_t bytes_of(const NamedTensor& tensor) {
  return sizeof(float) * entries_of(whole_block(tensor.shape));
}

// The data begins at a multiple of 8, so that every float is aligned in the mapping.
std::string header_of(const std::vector<NamedTensor>& tensors, const std::map<std::string, std::string>& metadata) {
  nlohmann::ordered_json header = nlohmann::ordered_json::object();
  if (!metadata.empty()) header["__metadata__"] = metadata;
  std::size_t begin = 0;
  for (const NamedTensor& tensor : tensors) {
    const std::size_t end = begin + bytes_of(tensor);
    header[tensor.name] = {{"dtype", "F32"}, {"shape", tensor.shape}, {"data_offsets", {begin, end}}};
    begin = end;
  }
  std::string text = header.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
  text.resize((text.size() + 7) / 8 * 8, ' ');
  return text;
}

}  // namespace

void write_safetensors(const std::filesystem::path& path, const std::vector<NamedTensor>& tensors,
                       const std::map<std::string, std::string>& metadata) {
  ReplacedFile replaced(path);
  write_safetensors(replaced, tensors, metadata);
  replaced.commit();
}

void write_safetensors(ReplacedFile& file, const std::vector<NamedTensor>& tensors,
                       const std::map<std::string, std::string>& metadata) {
  const std::string header = header_of(tensors, metadata);
  const std::uint64_t length = header.size();
  file.write({reinterpret_cast<const char*>(&length), sizeof length});
  file.write(header);
  for (const NamedTensor& tensor : tensors)
    file.write({reinterpret_cast<const char*>(tensor.values), bytes_of(tensor)});
}

namespace {

namespace fs = std::filesystem;

constexpr const char* single_name = "model.safetensors";
constexpr const char* index_name = "model.safetensors.index.json";

[[noreturn]] void refuse_folder(const fs::path& folder) {
  std::vector<fs::path> files;
  for (std::error_code ended; const auto& entry : fs::directory_iterator(folder, ended)) files.push_back(entry.path());
  std::ranges::sort(files);
  const auto tensors = std::ranges::find(files, ".safetensors", [](const fs::path& p) { return p.extension(); });
  if (tensors != files.end()) {
    const std::string name = printable(tensors->filename().string());
    if (name.find("-of-") != std::string::npos)
      throw FormatError(fmt::format("{}: found {}, but not {}, which lists the tensors of all files; get it too",
                                    shown_path(folder), name, index_name));
    throw FormatError(fmt::format("{}: found neither {} nor {}; to read {}, give that file's path", shown_path(folder),
                                  single_name, index_name, name));
  }
  constexpr auto weights = std::to_array<std::string_view>(
      {".bin", ".pt", ".pth", ".ckpt", ".gguf", ".h5", ".keras", ".msgpack", ".onnx", ".npz"});
  for (const fs::path& file : files)
    if (std::ranges::count(weights, file.extension().string()) > 0) throw foreign_file(file, expected_weights);
  throw FormatError(
      fmt::format("{}: no weights in this folder: looked for {} and {}", shown_path(folder), single_name, index_name));
}

// Shards lie beside their index; a path that leads elsewhere is an attack or a mistake.
bool is_plain_name(const std::string& name) {
  return !name.empty() && name != "." && name != ".." && name.find_first_of(std::string_view("/\\\0", 3)) == name.npos;
}

}  // namespace

Checkpoint::Checkpoint(const fs::path& path) : path_(path) {
  std::error_code ignored;
  if (!fs::is_directory(path, ignored)) {
    if (path.string().ends_with(".safetensors.index.json")) {
      open_sharded(path);
      return;
    }
    // For a file with the right ending, the reader of safetensors says better what is wrong with it.
    if (path.extension() != ".safetensors" && content_of_file(path) != FileContent::safetensors)
      throw foreign_file(path, expected_weights);
    open_file(path);
  } else if (fs::exists(path / single_name, ignored)) {
    open_file(path / single_name);
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
        infos_.emplace_back(TensorInfo{tensor.name, tensor.dtype, tensor.shape, 0, tensor.bytes.size()});
    const std::optional<NumberType> type = number_type(tensor.dtype);
    if (!type)
      throw FormatError(
          fmt::format("{}: tensor '{}' has the unknown type '{}'; expected a type of safetensors, such as F32", called,
                      printable(tensor.name), printable(tensor.dtype, 20)));
    if (const auto expected = static_cast<std::size_t>(info.size()) * size_of(*type); tensor.bytes.size() != expected)
      throw FormatError(fmt::format("{}: tensor '{}' has {} bytes; expected {}, as its shape {} of {} needs", called,
                                    printable(tensor.name), tensor.bytes.size(), expected, shape_text(tensor.shape),
                                    tensor.dtype));
    if (!places_.emplace(tensor.name, Place{tensor.bytes, &info, nullptr}).second)
      throw FormatError(fmt::format("{}: two tensors are called '{}'", called, printable(tensor.name)));
    names_.push_back(tensor.name);
  }
}

namespace {

/// The file of each tensor, from the 'weight_map' of a NAME.safetensors.index.json.
std::map<std::string, std::string> sharded_tensors(const fs::path& index) {
  const nlohmann::json read = json_of_file(index);
  if (!read.is_object() || !read.contains("weight_map") || !read["weight_map"].is_object() ||
      read["weight_map"].empty())
    throw FormatError(
        fmt::format("{}: expected an object 'weight_map' that maps tensor names to files", shown_path(index)));
  std::map<std::string, std::string> shards;
  for (const auto& [name, shard] : read["weight_map"].items()) {
    if (!shard.is_string() || !is_plain_name(shard.get_ref<const std::string&>()))
      throw FormatError(fmt::format("{}: tensor '{}' must be mapped to the name of a file in the same folder",
                                    shown_path(index), printable(name)));
    shards[name] = shard.get<std::string>();
  }
  return shards;
}

}  // namespace

void Checkpoint::open_file(const fs::path& path, const std::map<std::string, std::string>* shards) {
  const std::string file_name = path.filename().string();
  const auto& file = *(files_[file_name] = std::make_unique<SafetensorsFile>(path));
  for (const TensorInfo& tensor : file.tensors()) {
    if (shards != nullptr && (!shards->contains(tensor.name) || shards->at(tensor.name) != file_name)) continue;
    places_.emplace(tensor.name, Place{file.bytes(tensor), &tensor, &file});
    names_.push_back(tensor.name);
  }
}

void Checkpoint::open_sharded(const fs::path& index) {
  const std::map<std::string, std::string> shards = sharded_tensors(index);
  std::set<std::string> files;
  for (const auto& [name, shard] : shards) files.insert(shard);
  for (const std::string& shard : files) open_file(index.parent_path() / shard, &shards);
  for (const auto& [name, shard] : shards)
    if (!places_.contains(name))
      throw FormatError(
          fmt::format("{}: tensor '{}' is said to be in {}, which does not hold it: the shards do not belong together",
                      shown_path(index), printable(name), printable(shard)));
}

std::vector<fs::path> Checkpoint::files() const {
  std::vector<fs::path> paths;
  for (const auto& [name, file] : files_) paths.push_back(file->path());
  return paths;
}

Index Checkpoint::parameters() const {
  return std::accumulate(places_.begin(), places_.end(), Index{0}, [](Index sum, const auto& entry) {
    const auto& [name, place] = entry;
    const bool bytes = place.info->dtype == "U8";
    if (bytes && name.ends_with("_scales")) return sum;
    return sum + (bytes && name.ends_with("_blocks") ? 2 : 1) * place.info->size();
  });
}

const Checkpoint::Place& Checkpoint::place(const std::string& name) const {
  const auto found = places_.find(name);
  if (found == places_.end())
    throw FormatError(
        fmt::format("{}: there is no tensor '{}' among the {} stored tensors: config.json (or the map) and the weights "
                    "do not belong together",
                    shown_path(path_), printable(name), places_.size()));
  return found->second;
}

const TensorInfo& Checkpoint::info(const std::string& name) const {
  return *place(name).info;
}

namespace {

/// A shape without its leading axes of size 1, but with at least `axes` axes.
std::vector<Index> without_ones(std::vector<Index> shape, std::size_t axes) {
  while (shape.size() > axes && axes > 1 && shape.front() == 1) shape.erase(shape.begin());
  return shape;
}

}  // namespace

std::string Checkpoint::shown_file(const Place& tensor) const {
  return shown_path(tensor.file != nullptr ? tensor.file->path() : path_);
}

const Checkpoint::Place& Checkpoint::place(const std::string& name, const std::vector<Index>& shape) const {
  const Place& tensor = place(name);
  if (without_ones(tensor.info->shape, shape.size()) != shape)
    throw FormatError(
        fmt::format("{}: tensor '{}' has shape {}, expected {}: config.json (or the map) and the weights do not "
                    "belong together",
                    shown_file(tensor), printable(name), shape_text(tensor.info->shape), shape_text(shape)));
  return tensor;
}

NumberType Checkpoint::real_type(const Place& tensor) const {
  const std::string& dtype = tensor.info->dtype;
  const auto type = dtype.starts_with('F') || dtype == "BF16" ? number_type(dtype) : std::nullopt;
  if (!type)
    throw FormatError(
        fmt::format("{}: tensor '{}' is {}, expected F32, F16, BF16 or F64: quantised or integer weights are not "
                    "read; save the model in float32",
                    shown_file(tensor), printable(tensor.info->name), dtype));
  return *type;
}

void Checkpoint::require(const std::string& name, const std::vector<Index>& shape) const {
  (void)real_type(place(name, shape));
}

std::function<void(Index first, Index count, float* out)> Checkpoint::row_reader(const std::string& name) const {
  const Place& tensor = place(name);
  const std::size_t columns = tensor.info->shape.empty() ? 1 : static_cast<std::size_t>(tensor.info->shape.back());
  return [&tensor, columns, type = real_type(tensor)](Index first, Index count, float* out) {
    const std::size_t entries = static_cast<std::size_t>(count) * columns,
                      from = static_cast<std::size_t>(first) * columns * size_of(type), bytes = entries * size_of(type);
    if (tensor.file == nullptr)
      return put_floats(tensor.bytes.subspan(from, bytes), type, ByteOrder::little, {out, entries});
    std::vector<std::byte> read(bytes);
    tensor.file->read(*tensor.info, from, read);
    put_floats(read, type, ByteOrder::little, {out, entries});
  };
}

const float* Checkpoint::values(const std::string& name, const std::vector<Index>& shape,
                                ConvertedTensors* converted) const {
  const Place& there = place(name, shape);
  const NumberType type = real_type(there);
  const auto& [bytes, tensor, file] = there;
  if (tensor->dtype == "F32" && reinterpret_cast<std::uintptr_t>(bytes.data()) % alignof(float) == 0)
    return reinterpret_cast<const float*>(bytes.data());
  ConvertedTensors& kept = converted != nullptr ? *converted : converted_;
  const std::lock_guard lock(kept.converting);
  const auto [found, is_new] = kept.values.try_emplace(name);
  if (is_new) {
    found->second.resize(static_cast<std::size_t>(tensor->size()));
    put_floats(bytes, type, ByteOrder::little, found->second);
    if (file != nullptr) file->let_go(*tensor);
  }
  return found->second.data();
}

MatrixView32 Checkpoint::matrix(const std::string& name, const std::vector<Index>& shape,
                                ConvertedTensors* converted) const {
  const float* first = values(name, shape, converted);
  return {first, shape.front(), std::accumulate(shape.begin() + 1, shape.end(), Index{1}, std::multiplies<>())};
}

VectorView32 Checkpoint::vector(const std::string& name, Index size, ConvertedTensors* converted) const {
  return {values(name, {size}, converted), size};
}

std::span<const std::byte> Checkpoint::bytes(const std::string& name, const std::vector<Index>& shape) const {
  const Place& tensor = place(name, shape);
  if (tensor.info->dtype != "U8")
    throw FormatError(fmt::format("{}: tensor '{}' holds {}, expected U8", shown_file(tensor), printable(name),
                                  printable(tensor.info->dtype)));
  return tensor.bytes;
}

void Checkpoint::let_go(const std::string& name) const {
  const Place& tensor = place(name);
  if (tensor.file != nullptr) tensor.file->let_go(*tensor.info);
}

}  // namespace headwave
