#include "gguf.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <optional>
#include <set>
#include <type_traits>
#include <utility>

#include <fmt/format.h>

#include "../../core/errors/error.h"
#include "../files/file_content.h"
#include "../files/printable.h"
#include "quantised_blocks.h"

namespace headwave {

namespace {

constexpr std::string_view gguf_magic = "GGUF";
constexpr std::uint32_t most_gguf_axes = 4;
constexpr std::uint64_t usual_alignment = 32, largest_alignment = std::uint64_t{1} << 20U;

/// The numbers by which a file names the types of its metadata.
enum class ValueType : std::uint32_t { u8, i8, u16, i16, u32, i32, f32, flag, text, list, u64, i64, f64 };

/// ggml's names of tensor types, by number. Of those that are not read here the name serves the message alone.
std::string_view tensor_type_name(std::uint32_t number) {
  constexpr auto names = std::to_array<std::string_view>(
      {"F32",   "F16",    "Q4_0",  "Q4_1", "",     "",        "Q5_0",   "Q5_1",    "Q8_0",  "Q8_1",   "Q2_K",
       "Q3_K",  "Q4_K",   "Q5_K",  "Q6_K", "Q8_K", "IQ2_XXS", "IQ2_XS", "IQ3_XXS", "IQ1_S", "IQ4_NL", "IQ3_S",
       "IQ2_S", "IQ4_XS", "I8",    "I16",  "I32",  "I64",     "F64",    "IQ1_M",   "BF16",  "",       "",
       "",      "TQ1_0",  "TQ2_0", "",     "",     "",        "MXFP4",  "NVFP4"});
  return number < names.size() ? names[number] : std::string_view();
}

/// Entries and bytes of the blocks of a type; nothing: it is not read.
struct BlockSize {
  std::size_t entries, bytes;
};
std::optional<BlockSize> block_size(const std::string& dtype) {
  if (const std::optional<NumberType> type = number_type(dtype)) return BlockSize{1, size_of(*type)};
  const QuantisedType* quantised = quantised_type(dtype);
  return quantised == nullptr ? std::nullopt : std::optional(BlockSize{quantised->entries, quantised->bytes});
}

/// The bytes of a header, from the first to the last. What is asked for is there, or the file is refused.
class HeaderBytes {
 public:
  HeaderBytes(std::span<const std::byte> bytes, const std::string& file) : bytes_(bytes), file_(file) {}

  [[nodiscard]] std::size_t at() const { return at_; }
  [[nodiscard]] std::size_t left() const { return bytes_.size() - at_; }
  [[noreturn]] void fail(const std::string& problem) const { throw FormatError(fmt::format("{}: {}", file_, problem)); }

  template <class Number>
  Number number(const char* what) {
    Number value;
    require(sizeof value, what);
    std::memcpy(&value, bytes_.data() + at_, sizeof value);
    at_ += sizeof value;
    return value;
  }

  std::string text(const char* what) {
    const auto length = number<std::uint64_t>(what);
    require(length, what);
    std::string text(reinterpret_cast<const char*>(bytes_.data() + at_), static_cast<std::size_t>(length));
    at_ += text.size();
    return text;
  }

  /// @param smallest  bytes that each of so many things takes at least
  void require_many(std::uint64_t count, std::size_t smallest, const std::string& what) const {
    if (count > left() / smallest)
      fail(fmt::format("{} {} are announced, but only {} bytes follow: the file is cut short, or no GGUF file", count,
                       what, left()));
  }

 private:
  void require(std::uint64_t count, const char* what) const {
    if (count > left())
      fail(fmt::format("ends within its header: {} takes {} bytes at byte {}, {} follow; get the whole file", what,
                       count, at_, left()));
  }

  std::span<const std::byte> bytes_;
  const std::string& file_;
  std::size_t at_ = 0;
};

/// A number of the metadata in the widest type of its kind.
template <class Number>
auto widened(HeaderBytes& bytes, const std::string& key) {
  const auto number = bytes.number<Number>("a number");
  if constexpr (std::is_floating_point_v<Number>) {
    return static_cast<double>(number);
  } else {
    if constexpr (std::is_same_v<Number, std::uint64_t>)
      if (number > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()))
        bytes.fail(fmt::format("'{}' is {}, expected at most 2^63 - 1", printable(key), number));
    return static_cast<std::int64_t>(number);
  }
}

bool flag_of(HeaderBytes& bytes, const std::string& key) {
  const auto flag = bytes.number<std::uint8_t>("a switch");
  if (flag > 1) bytes.fail(fmt::format("'{}' holds the switch {}, expected 0 or 1", printable(key), flag));
  return flag != 0;
}

/// Calls `use` with a function that reads a value of the type.
/// @returns what `use` does
template <class Use>
GgufValue read_as(ValueType type, HeaderBytes& bytes, const std::string& key, const Use& use) {
  const auto number = [&]<class Number>(Number /*unused*/) {
    return use([&] { return widened<Number>(bytes, key); }, sizeof(Number));
  };
  switch (type) {
    case ValueType::u8:
      return number(std::uint8_t{});
    case ValueType::i8:
      return number(std::int8_t{});
    case ValueType::u16:
      return number(std::uint16_t{});
    case ValueType::i16:
      return number(std::int16_t{});
    case ValueType::u32:
      return number(std::uint32_t{});
    case ValueType::i32:
      return number(std::int32_t{});
    case ValueType::u64:
      return number(std::uint64_t{});
    case ValueType::i64:
      return number(std::int64_t{});
    case ValueType::f32:
      return number(float{});
    case ValueType::f64:
      return number(double{});
    case ValueType::flag:
      return use([&] { return flag_of(bytes, key); }, 1);
    case ValueType::text:
      return use([&] { return bytes.text("a text"); }, sizeof(std::uint64_t));
    case ValueType::list:
      break;
  }
  bytes.fail(fmt::format("'{}' has a value of type {}, expected 0 to 12, and no list within a list", printable(key),
                         static_cast<std::uint32_t>(type)));
}

GgufValue value_of(HeaderBytes& bytes, const std::string& key) {
  const auto type = static_cast<ValueType>(bytes.number<std::uint32_t>("the type of a value"));
  if (type != ValueType::list)
    return read_as(type, bytes, key, [](const auto& next, std::size_t /*bytes*/) { return GgufValue(next()); });
  const auto inner = static_cast<ValueType>(bytes.number<std::uint32_t>("the type of a list"));
  const auto count = bytes.number<std::uint64_t>("the length of a list");
  return read_as(inner, bytes, key, [&](const auto& next, std::size_t smallest) {
    using Read = decltype(next());
    using Kept = std::conditional_t<std::is_same_v<Read, bool>, std::int64_t, Read>;
    bytes.require_many(count, smallest, fmt::format("values of '{}'", printable(key)));
    std::vector<Kept> list;
    list.reserve(static_cast<std::size_t>(count));
    for (std::uint64_t i = 0; i < count; ++i) list.push_back(next());
    return GgufValue(std::move(list));
  });
}

/// One entry of the list of tensors; `begin` and `end` are counted from the first byte of the numbers.
TensorInfo tensor_of(HeaderBytes& bytes) {
  TensorInfo info;
  info.name = bytes.text("the name of a tensor");
  const auto refuse = [&](const std::string& problem) {
    bytes.fail(fmt::format("tensor '{}': {}", printable(info.name), problem));
  };
  const auto axes = bytes.number<std::uint32_t>("the axes of a tensor");
  if (axes > most_gguf_axes) refuse(fmt::format("has {} axes, expected at most {}", axes, most_gguf_axes));
  std::uint64_t entries = 1;
  for (std::uint32_t axis = 0; axis < axes; ++axis) {
    const auto extent = bytes.number<std::uint64_t>("the shape of a tensor");
    if (extent == 0 || __builtin_mul_overflow(entries, extent, &entries) ||
        entries > static_cast<std::uint64_t>(std::numeric_limits<Index>::max()))
      refuse("expected at least one entry along each axis, and no more in all than any file can hold");
    info.shape.insert(info.shape.begin(), static_cast<Index>(extent));
  }
  const auto type = bytes.number<std::uint32_t>("the type of a tensor");
  info.dtype = tensor_type_name(type);
  const std::optional<BlockSize> block = block_size(info.dtype);
  if (!block)
    refuse(fmt::format("is stored as {}, which is not read; expected F32, F16, BF16, {}: get the model in one of these",
                       info.dtype.empty() ? fmt::format("type {}", type) : info.dtype, quantised_types_text()));
  const std::uint64_t row = info.shape.empty() ? 1 : static_cast<std::uint64_t>(info.shape.back());
  if (row % block->entries != 0)
    refuse(fmt::format("has rows of {} numbers, expected a multiple of {} in {}", row, block->entries, info.dtype));
  std::uint64_t size = 0, end = 0;
  const auto begin = bytes.number<std::uint64_t>("the place of a tensor");
  if (__builtin_mul_overflow(entries / block->entries, std::uint64_t{block->bytes}, &size) ||
      __builtin_add_overflow(begin, size, &end))
    refuse("has more bytes than any file can hold");
  info.begin = static_cast<std::size_t>(begin);
  info.end = static_cast<std::size_t>(end);
  return info;
}

std::uint64_t alignment_of(const HeaderBytes& bytes, const std::map<std::string, GgufValue>& metadata) {
  const auto found = metadata.find("general.alignment");
  if (found == metadata.end()) return usual_alignment;
  const auto* number = std::get_if<std::int64_t>(&found->second);
  if (number == nullptr || *number < 1 || static_cast<std::uint64_t>(*number) > largest_alignment ||
      !std::has_single_bit(static_cast<std::uint64_t>(*number)))
    bytes.fail(fmt::format("'general.alignment' is {}, expected a power of two up to {}", gguf_text(found->second),
                           largest_alignment));
  return static_cast<std::uint64_t>(*number);
}

/// @throws FormatError if tensors lie outside the data, askew, or on one another
void check_places(const HeaderBytes& bytes, const GgufHeader& header, std::uint64_t alignment, std::size_t size) {
  std::vector<const TensorInfo*> placed;
  for (const TensorInfo& tensor : header.tensors) placed.push_back(&tensor);
  std::ranges::sort(placed, {}, [](const TensorInfo* tensor) { return tensor->begin; });
  const TensorInfo* before = nullptr;
  for (const TensorInfo* tensor : placed) {
    const auto refuse = [&](const std::string& problem) {
      bytes.fail(fmt::format("tensor '{}': {}", printable(tensor->name), problem));
    };
    if (tensor->begin % alignment != 0)
      refuse(fmt::format("begins at byte {} of the data, expected a multiple of {}", tensor->begin, alignment));
    if (tensor->end > size)
      refuse(fmt::format("ends at byte {} of the data, the file has {}: it is cut short; get the whole file",
                         tensor->end, size));
    if (before != nullptr && tensor->begin < before->end)
      refuse(fmt::format("begins at byte {}, inside '{}', which ends at {}: the file is damaged", tensor->begin,
                         printable(before->name), before->end));
    before = tensor;
  }
}

}  // namespace

GgufHeader gguf_header(std::span<const std::byte> content, const std::string& file) {
  HeaderBytes bytes(content, file);
  const auto is_gguf = [&] {
    return content.size() >= gguf_magic.size() &&
           std::memcmp(content.data(), gguf_magic.data(), gguf_magic.size()) == 0;
  };
  require_no_pointer({reinterpret_cast<const char*>(content.data()), content.size()}, file);
  if (!is_gguf()) bytes.fail("expected a GGUF file, which begins with 'GGUF'");
  (void)bytes.number<std::uint32_t>("its beginning");
  GgufHeader header;
  header.version = bytes.number<std::uint32_t>("its version");
  if (header.version != 0 && (header.version & 0xFFFFU) == 0)
    bytes.fail("is a big-endian GGUF file; expected little-endian: convert it with gguf's gguf-convert-endian");
  if (header.version != 2 && header.version != 3)
    bytes.fail(fmt::format("is a GGUF file of version {}, expected 2 or 3; convert the model anew", header.version));
  constexpr std::size_t smallest_tensor = 8 + 4 + 4 + 8, smallest_value = 8 + 4 + 1;
  const auto tensors = bytes.number<std::uint64_t>("the number of its tensors");
  const auto values = bytes.number<std::uint64_t>("the number of its keys");
  bytes.require_many(tensors, smallest_tensor, "tensors");
  bytes.require_many(values, smallest_value, "keys");

  for (std::uint64_t i = 0; i < values; ++i) {
    std::string key = bytes.text("a key");
    GgufValue value = value_of(bytes, key);
    if (!header.metadata.emplace(key, std::move(value)).second)
      bytes.fail(fmt::format("the key '{}' occurs twice", printable(key)));
  }
  std::set<std::string> names;
  for (std::uint64_t i = 0; i < tensors; ++i) {
    header.tensors.push_back(tensor_of(bytes));
    const std::string& name = header.tensors.back().name;
    if (!names.insert(name).second) bytes.fail(fmt::format("two tensors are called '{}'", printable(name)));
  }
  const std::uint64_t alignment = alignment_of(bytes, header.metadata);
  header.data = std::min((bytes.at() + alignment - 1) / alignment * alignment, content.size());
  check_places(bytes, header, alignment, content.size() - header.data);
  return header;
}

GgufFile::GgufFile(const std::filesystem::path& path)
    : TensorFile(path), header_(gguf_header(content(), shown_path(path))) {
  set_data(header_.data);
}

const GgufValue* GgufFile::find(const std::string& key) const {
  const auto found = header_.metadata.find(key);
  return found == header_.metadata.end() ? nullptr : &found->second;
}

template <class Value>
const Value* GgufFile::value(const std::string& key, const char* expected) const {
  const GgufValue* found = find(key);
  if (found == nullptr) return nullptr;
  const auto* value = std::get_if<Value>(found);
  if (value == nullptr)
    throw FormatError(fmt::format("{}: '{}' is {}, expected {}", shown_path(path()), key, gguf_text(*found), expected));
  return value;
}

std::string GgufFile::text_or(const std::string& key, const std::string& otherwise) const {
  const auto* found = value<std::string>(key, "a text");
  return found == nullptr ? otherwise : *found;
}

bool GgufFile::flag_or(const std::string& key, bool otherwise) const {
  const auto* found = value<bool>(key, "true or false");
  return found == nullptr ? otherwise : *found;
}

std::int64_t GgufFile::integer_or(const std::string& key, std::int64_t otherwise) const {
  const auto* found = value<std::int64_t>(key, "a whole number");
  return found == nullptr ? otherwise : *found;
}

const std::vector<std::string>& GgufFile::texts(const std::string& key) const {
  static const std::vector<std::string> none;
  const auto* found = value<std::vector<std::string>>(key, "a list of texts");
  return found == nullptr ? none : *found;
}

const std::vector<std::int64_t>& GgufFile::integers(const std::string& key) const {
  static const std::vector<std::int64_t> none;
  const auto* found = value<std::vector<std::int64_t>>(key, "a list of whole numbers");
  return found == nullptr ? none : *found;
}

const std::vector<double>& GgufFile::numbers(const std::string& key) const {
  static const std::vector<double> none;
  const auto* found = value<std::vector<double>>(key, "a list of numbers");
  return found == nullptr ? none : *found;
}

bool is_gguf(const std::filesystem::path& path) {
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored)) return false;
  if (path.extension() == ".gguf") return true;
  try {
    return path.extension() != ".safetensors" && content_of_file(path) == FileContent::gguf;
  } catch (const IoError&) {
    return false;
  }
}

std::vector<std::shared_ptr<const GgufFile>> gguf_files(const std::filesystem::path& path) {
  std::vector<std::shared_ptr<const GgufFile>> files{std::make_shared<const GgufFile>(path)};
  const std::string shown = shown_path(path);
  const std::int64_t count = files.front()->integer_or("split.count", 1);
  if (count <= 1) return files;
  constexpr std::int64_t most_parts = 99999;
  const std::string name = path.filename().string();
  const std::string first = fmt::format("-00001-of-{:05}.gguf", std::min(count, most_parts));
  if (files.front()->integer_or("split.no", 0) != 0 || count > most_parts || !name.ends_with(first))
    throw FormatError(
        fmt::format("{}: is one of {} files of a model; expected the path of the first, NAME-00001-of-{:05}.gguf",
                    shown, count, std::min(count, most_parts)));
  for (std::int64_t part = 2; part <= count; ++part) {
    const std::string other =
        fmt::format("{}-{:05}-of-{:05}.gguf", name.substr(0, name.size() - first.size()), part, count);
    files.push_back(std::make_shared<const GgufFile>(path.parent_path() / other));
    if (files.back()->integer_or("split.no", -1) != part - 1 || files.back()->integer_or("split.count", -1) != count)
      throw FormatError(
          fmt::format("{}: does not say that it is part {} of {} ('split.no', 'split.count'); get all "
                      "files of one model",
                      shown_path(files.back()->path()), part, count));
  }
  return files;
}

std::string gguf_text(const GgufValue& value) {
  return std::visit(
      []<class Value>(const Value& one) {
        if constexpr (std::is_same_v<Value, std::string>)
          return "'" + printable(one, 60) + "'";
        else if constexpr (std::is_same_v<Value, bool> || std::is_arithmetic_v<Value>)
          return fmt::format("{}", one);
        else
          return fmt::format("a list of {}", one.size());
      },
      value);
}

}  // namespace headwave
