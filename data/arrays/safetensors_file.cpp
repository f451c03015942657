#include "safetensors_file.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "../../core/errors/error.h"
#include "../files/json_file.h"
#include "../files/printable.h"
#include "../files/replaced_file.h"

namespace headwave {

namespace {

using nlohmann::json;

constexpr std::size_t longest_header = 100'000'000;
constexpr std::size_t most_tensors = std::size_t{1} << 18U;  // experts by the hundred make some ten thousand
constexpr std::size_t most_axes = 64;                        // what NumPy and PyTorch can hold

/// Bytes of one entry of a type, also of types that are listed and never read.
std::optional<std::size_t> bytes_per_entry(const std::string& dtype) {
  if (const std::optional<NumberType> type = number_type(dtype)) return size_of(*type);
  if (dtype == "C64") return 8;
  return dtype == "F8_E5M2" || dtype == "F8_E4M3" || dtype == "F8_E8M0" ? std::optional<std::size_t>(1) : std::nullopt;
}

// One message form for all complaints about a tensor's entry.
struct Entry {
  const std::string& file;
  const std::string& name;

  [[noreturn]] void refuse(const std::string& problem) const {
    throw FormatError(fmt::format("{}: tensor '{}': {}: the file is damaged or was not written as safetensors", file,
                                  printable(name), problem));
  }
  [[nodiscard]] const json& member(const json& entry, const char* key) const {
    const auto found = entry.find(key);
    if (found == entry.end()) refuse(fmt::format("'{}' is missing", key));
    return *found;
  }
  [[nodiscard]] std::vector<std::size_t> sizes(const json& list, const char* key) const {
    if (!list.is_array()) refuse(fmt::format("'{}' must be a list of whole numbers", key));
    if (list.size() > most_axes)
      refuse(fmt::format("'{}' holds {} numbers, expected at most {}", key, list.size(), most_axes));
    std::vector<std::size_t> numbers;
    for (const json& number : list) {
      constexpr auto largest = static_cast<std::uint64_t>(std::numeric_limits<Index>::max());
      if (!number.is_number_unsigned() || number.get<std::uint64_t>() > largest)
        refuse(fmt::format("'{}' must hold whole numbers from 0 to 2^63 - 1", key));
      numbers.push_back(number.get<std::size_t>());
    }
    return numbers;
  }
};

TensorInfo tensor_info(const json& entry, const Entry& at, std::size_t data_bytes) {
  if (!entry.is_object()) at.refuse("expected an object with dtype, shape and data_offsets");
  const json& dtype = at.member(entry, "dtype");
  if (!dtype.is_string()) at.refuse("'dtype' must be text");
  TensorInfo info{at.name, dtype.get<std::string>(), {}, 0, 0};
  const std::optional<std::size_t> width = bytes_per_entry(info.dtype);
  if (!width) at.refuse(fmt::format("the type '{}' is not known", printable(info.dtype, 20)));

  std::size_t bytes = *width;
  for (const std::size_t size : at.sizes(at.member(entry, "shape"), "shape")) {
    info.shape.push_back(static_cast<Index>(size));
    if (__builtin_mul_overflow(bytes, size, &bytes)) at.refuse("the shape has more entries than any file can hold");
  }
  const std::vector<std::size_t> offsets = at.sizes(at.member(entry, "data_offsets"), "data_offsets");
  if (offsets.size() != 2) at.refuse(fmt::format("'data_offsets' must hold 2 numbers, found {}", offsets.size()));
  info.begin = offsets[0];
  info.end = offsets[1];
  if (info.begin > info.end || info.end > data_bytes)
    at.refuse(fmt::format("bytes {} to {} are not inside the {} bytes of data", info.begin, info.end, data_bytes));
  if (info.end - info.begin != bytes)
    at.refuse(fmt::format("{} of shape {} needs {} bytes, the offsets give {}", info.dtype, shape_text(info.shape),
                          bytes, info.end - info.begin));
  return info;
}

std::map<std::string, std::string> metadata_in(const json& entry, const std::string& name) {
  if (!entry.is_object()) throw FormatError(fmt::format("{}: __metadata__ must be an object of texts", name));
  std::map<std::string, std::string> metadata;
  for (const auto& [label, text] : entry.items()) {
    if (!text.is_string()) throw FormatError(fmt::format("{}: __metadata__ '{}' must be text", name, printable(label)));
    metadata.emplace(label, text.get<std::string>());
  }
  return metadata;
}

void require_own_names(const std::vector<TensorInfo>& tensors, const std::string& file) {
  std::vector<std::string_view> names;
  for (const TensorInfo& tensor : tensors) names.push_back(tensor.name);
  std::ranges::sort(names);
  const auto twice = std::ranges::adjacent_find(names);
  if (twice != names.end()) refuse_second_key(file, std::string(*twice));
}

}  // namespace

Index TensorInfo::size() const {
  Index product = 1;
  for (const Index size : shape) product *= size;
  return product;
}

std::string shape_text(std::span<const Index> shape) {
  return fmt::format("({})", fmt::join(shape, ", "));
}

std::optional<NumberType> number_type(const std::string& dtype) {
  static const std::map<std::string, NumberType> types = {
      {"F16", NumberType::f16},     {"BF16", NumberType::bf16}, {"F32", NumberType::f32}, {"F64", NumberType::f64},
      {"I8", NumberType::i8},       {"I16", NumberType::i16},   {"I32", NumberType::i32}, {"I64", NumberType::i64},
      {"U8", NumberType::u8},       {"U16", NumberType::u16},   {"U32", NumberType::u32}, {"U64", NumberType::u64},
      {"BOOL", NumberType::boolean}};
  const auto found = types.find(dtype);
  return found == types.end() ? std::nullopt : std::optional(found->second);
}

SafetensorsHeader safetensors_header(const FileBytes& file) {
  const std::string name = shown_path(file.path());
  std::uint64_t length = 0;
  if (file.size() < sizeof length)
    throw FormatError(fmt::format("{}: {} bytes are too few for a safetensors file", name, file.size()));
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
  bool has_metadata = false;
  const auto take = [&](const std::string& key, const json& entry) {
    if (key == "__metadata__") {
      if (std::exchange(has_metadata, true)) refuse_second_key(name, key);
      read.metadata = metadata_in(entry, name);
    } else if (read.tensors.size() < most_tensors) {
      read.tensors.push_back(tensor_info(entry, Entry{name, key}, data_bytes));
    } else {
      throw FormatError(fmt::format("{}: more than {} tensors: is this a model?", name, most_tensors));
    }
  };
  json_of_text(text, name, {.takers = {{{}, take}}});
  require_own_names(read.tensors, name);

  std::ranges::sort(read.tensors, {}, [](const TensorInfo& t) { return std::tie(t.begin, t.end, t.name); });
  std::size_t filled = 0;
  for (const TensorInfo& tensor : read.tensors) {
    if (tensor.begin != filled)
      Entry{name, tensor.name}.refuse(
          fmt::format("its bytes begin at {}, {} {}", tensor.begin,
                      tensor.begin < filled ? "inside the tensor that ends at" : "leaving a gap after", filled));
    filled = tensor.end;
  }
  if (filled != data_bytes)
    throw FormatError(fmt::format("{}: the tensors fill {} bytes, the file has {}", name, filled, data_bytes));
  return read;
}

SafetensorsFile::SafetensorsFile(const std::filesystem::path& path)
    : file_(path), mapped_(file_), header_(safetensors_header(file_)) {
  by_name_.resize(header_.tensors.size());
  std::iota(by_name_.begin(), by_name_.end(), 0U);
  std::ranges::sort(by_name_, {}, [this](std::uint32_t at) -> const std::string& { return header_.tensors[at].name; });
}

const TensorInfo* SafetensorsFile::find(const std::string& name) const {
  const auto found = std::ranges::lower_bound(
      by_name_, name, {}, [this](std::uint32_t at) -> const std::string& { return header_.tensors[at].name; });
  return found == by_name_.end() || header_.tensors[*found].name != name ? nullptr : &header_.tensors[*found];
}

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
  std::size_t bytes = sizeof(float);
  for (const Index size : tensor.shape)
    if (size < 0 || __builtin_mul_overflow(bytes, static_cast<std::size_t>(size), &bytes))
      throw ShapeError(fmt::format("write_safetensors: tensor '{}' has the impossible shape {}", printable(tensor.name),
                                   shape_text(tensor.shape)));
  return bytes;
}

// The data begins on a multiple of 8, so that every float lies aligned in the mapping.
std::string header_of(const std::vector<NamedTensor>& tensors, const std::map<std::string, std::string>& metadata) {
  nlohmann::ordered_json header = nlohmann::ordered_json::object();
  if (!metadata.empty()) header["__metadata__"] = metadata;
  std::set<std::string> names = {"__metadata__"};
  std::size_t begin = 0;
  for (const NamedTensor& tensor : tensors) {
    if (!names.insert(tensor.name).second)
      throw ShapeError(fmt::format("write_safetensors: the name '{}' is taken", printable(tensor.name)));
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

}  // namespace headwave
