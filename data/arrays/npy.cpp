#include "npy.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <span>

#include <fmt/format.h>

#include "../../core/numbers/error.h"
#include "../files/file_content.h"
#include "../files/mapped_file.h"
#include "../files/printable.h"
#include "npy_header.h"
#include "stored_numbers.h"

namespace headwave {

namespace {

constexpr std::string_view magic = "\x93NUMPY";
constexpr std::size_t most_dimensions = 64;

struct Element {
  std::string dtype;
  std::optional<std::size_t> bytes;  // of one entry; unknown for structured arrays
  std::optional<NumberType> number;  // how to read it, where it is a real number
};

const std::map<std::string, Element>& plain_elements() {
  static const std::map<std::string, Element> elements = {{"f2", {"float16", 2, NumberType::f16}},
                                                          {"f4", {"float32", 4, NumberType::f32}},
                                                          {"f8", {"float64", 8, NumberType::f64}},
                                                          {"f12", {"longdouble", 12, {}}},
                                                          {"f16", {"longdouble", 16, {}}},
                                                          {"i1", {"int8", 1, NumberType::i8}},
                                                          {"i2", {"int16", 2, NumberType::i16}},
                                                          {"i4", {"int32", 4, NumberType::i32}},
                                                          {"i8", {"int64", 8, NumberType::i64}},
                                                          {"u1", {"uint8", 1, NumberType::u8}},
                                                          {"u2", {"uint16", 2, NumberType::u16}},
                                                          {"u4", {"uint32", 4, NumberType::u32}},
                                                          {"u8", {"uint64", 8, NumberType::u64}},
                                                          {"b1", {"bool", 1, NumberType::boolean}},
                                                          {"c8", {"complex64", 8, {}}},
                                                          {"c16", {"complex128", 16, {}}},
                                                          {"c24", {"complex long double", 24, {}}},
                                                          {"c32", {"complex long double", 32, {}}}};
  return elements;
}

// "<f4" in words; nothing where no such type exists.
std::optional<Element> element_of(std::string_view descr) {
  if (descr.starts_with('[')) return Element{"structured", {}, {}};
  if (descr.size() < 2 || std::string_view("<>|=").find(descr[0]) == descr.npos) return std::nullopt;
  const auto& elements = plain_elements();
  if (const auto found = elements.find(std::string(descr.substr(1))); found != elements.end()) return found->second;
  const std::string_view unit = descr.substr(2);
  if (descr[1] == 'M' || descr[1] == 'm') {
    if (!unit.starts_with('8')) return std::nullopt;
    return Element{descr[1] == 'M' ? "datetime64" : "timedelta64", 8, {}};
  }
  if (std::string_view("USaV").find(descr[1]) == descr.npos) return std::nullopt;
  std::size_t length = 0;
  const auto [stop, problem] = std::from_chars(unit.data(), unit.data() + unit.size(), length);
  if (problem != std::errc() || stop != unit.data() + unit.size() || length > (std::size_t{1} << 31U))
    return std::nullopt;
  return Element{descr[1] == 'V' ? "opaque" : "string", descr[1] == 'U' ? 4 * length : length, {}};
}

bool holds_objects(const NpyInfo& info) {
  if (!info.descr.starts_with('[')) return info.descr.find('O') < 2;  // "|O", "O", "|O8"
  return info.descr.find("|O") != info.descr.npos || info.descr.find("'O") != info.descr.npos ||
         info.descr.find("\"O") != info.descr.npos;
}

// Everything but the numbers: magic, version, length of the header, the header, and the file's size against the shape.
NpyInfo info_of(const MappedFile& file, const std::string& name) {
  const std::string_view text = file.text();
  if (const FileContent content = content_of(text); content == FileContent::npz || content == FileContent::zip)
    throw FormatError(
        fmt::format("{}: this is {}: unzip it and give one of the .npy files inside", name, words_of(content)));
  if (!text.starts_with(magic) || text.size() < magic.size() + 4)
    throw FormatError(fmt::format("{}: expected a .npy file, which begins with \\x93NUMPY", name));
  const auto byte = [&text](std::size_t i) { return static_cast<std::size_t>(static_cast<unsigned char>(text[i])); };
  const std::size_t major = byte(6);
  const std::size_t minor = byte(7);
  if (major < 1 || major > 3 || minor != 0)
    throw FormatError(fmt::format("{}: npy format version {}.{}, expected 1.0, 2.0 or 3.0", name, major, minor));
  const std::size_t length_bytes = major == 1 ? 2 : 4;
  const std::size_t start = magic.size() + 2 + length_bytes;
  if (text.size() < start) throw FormatError(fmt::format("{}: the npy header is cut short", name));
  std::size_t length = 0;
  for (std::size_t i = 0; i < length_bytes; ++i) length |= byte(8 + i) << (8 * i);
  if (length > text.size() - start || length > (std::size_t{1} << 20U))
    throw FormatError(
        fmt::format("{}: an npy header of {} bytes does not fit in the file of {} bytes", name, length, text.size()));
  NpyInfo info = npy_header(text.substr(start, length), name);
  info.data = start + length;
  return info;
}

void check_size(const NpyInfo& info, const std::optional<std::size_t>& entry_bytes, std::size_t file_bytes,
                const std::string& name) {
  if (info.shape.size() > most_dimensions)
    throw FormatError(fmt::format("{}: {} dimensions, NumPy has at most {}", name, info.shape.size(), most_dimensions));
  std::size_t bytes = entry_bytes.value_or(1);
  for (const Index size : info.shape)
    if (__builtin_mul_overflow(bytes, static_cast<std::size_t>(size), &bytes))
      throw FormatError(fmt::format("{}: the shape has more entries than any file can hold", name));
  if (entry_bytes && bytes != file_bytes - info.data)
    throw FormatError(
        fmt::format("{}: the header promises {} bytes of {}, the file holds {}: it is cut short or has something "
                    "appended",
                    name, bytes, info.dtype, file_bytes - info.data));
}

Element checked_element(NpyInfo& info, const MappedFile& file, const std::string& name) {
  if (holds_objects(info))
    throw FormatError(
        fmt::format("{}: holds Python objects, a pickle that would run code when loaded: save it with a number type "
                    "instead, as in numpy.save(path, numpy.asarray(x, dtype='float32'))",
                    name));
  const std::optional<Element> element = element_of(info.descr);
  if (!element) throw FormatError(fmt::format("{}: '{}' is not a NumPy type", name, printable(info.descr, 40)));
  info.dtype = element->dtype;
  info.big_endian = info.descr.starts_with('>');
  check_size(info, element->bytes, file.size(), name);
  return *element;
}

// Entries of a Fortran-order array, last index fastest. Walks the output in order and steps through the input.
template <class Number>
std::vector<Number> row_major(const std::vector<Number>& values, const std::vector<Index>& shape) {
  std::vector<Number> sorted;
  sorted.reserve(values.size());
  std::vector<Index> place(shape.size(), 0);
  std::vector<Index> stride(shape.size(), 1);
  for (std::size_t axis = 1; axis < shape.size(); ++axis) stride[axis] = stride[axis - 1] * shape[axis - 1];
  Index from = 0;
  while (sorted.size() < values.size()) {
    sorted.push_back(values[static_cast<std::size_t>(from)]);
    for (std::size_t axis = shape.size(); axis-- > 0;) {
      from += stride[axis];
      if (++place[axis] < shape[axis]) break;
      from -= stride[axis] * shape[axis];
      place[axis] = 0;
    }
  }
  return sorted;
}

struct Rows {
  Index first = 0;
  Index count = -1;  // -1: all
};

// The bytes of some rows. What the row size is follows from the number of bytes, which check_size() has compared.
std::span<const std::byte> bytes_of_rows(std::span<const std::byte> bytes, const NpyInfo& info, const Rows& rows) {
  if (rows.count < 0) return bytes;
  const auto row = bytes.size() / static_cast<std::size_t>(std::max<Index>(info.shape[0], 1));
  return bytes.subspan(row * static_cast<std::size_t>(rows.first), row * static_cast<std::size_t>(rows.count));
}

template <class Number, class Convert>
NpyArray<Number> array_of(const std::filesystem::path& path, const char* wanted, Convert convert,
                          const Rows& rows = {}) {
  const MappedFile file(path);
  const std::string name = shown_path(path);
  NpyInfo info = info_of(file, name);
  const Element element = checked_element(info, file, name);
  if (!element.number) throw FormatError(fmt::format("{}: holds {} values, expected {}", name, info.dtype, wanted));
  const Index all = info.shape.empty() ? 0 : info.shape[0];
  if (rows.count >= 0 && (rows.first < 0 || rows.first > all || rows.count > all - rows.first))
    throw ShapeError(fmt::format("{}: asked for {} rows from row {}, it has {}", name, rows.count, rows.first, all));
  const ByteOrder order = info.big_endian ? ByteOrder::big : ByteOrder::little;
  const std::span<const std::byte> bytes = file.bytes().subspan(info.data);
  try {
    NpyArray<Number> array{info.shape, {}};
    if (rows.count >= 0) array.shape[0] = rows.count;
    if (!info.fortran_order || info.shape.size() < 2) {
      array.values = convert(bytes_of_rows(bytes, info, rows), *element.number, order);
      return array;
    }
    array.values = row_major(convert(bytes, *element.number, order), info.shape);
    if (rows.count >= 0) {
      const auto row = static_cast<std::ptrdiff_t>(array.values.size()) / std::max<Index>(all, 1);
      array.values.erase(array.values.begin() + row * (rows.first + rows.count), array.values.end());
      array.values.erase(array.values.begin(), array.values.begin() + row * rows.first);
    }
    return array;
  } catch (const NumericError& problem) {
    throw FormatError(fmt::format("{}: holds {} values: {}", name, info.dtype, problem.what()));
  }
}

}  // namespace

NpyInfo npy_info(const std::filesystem::path& path) {
  const MappedFile file(path);
  const std::string name = shown_path(path);
  NpyInfo info = info_of(file, name);
  checked_element(info, file, name);
  return info;
}

NpyArray<float> npy_floats(const std::filesystem::path& path) {
  return array_of<float>(path, "real numbers", floats_of);
}

NpyArray<float> npy_floats(const std::filesystem::path& path, Index first_row, Index rows) {
  if (rows < 0) throw ShapeError(fmt::format("{}: asked for {} rows", shown_path(path), rows));
  return array_of<float>(path, "real numbers", floats_of, Rows{first_row, rows});
}

NpyArray<std::int64_t> npy_integers(const std::filesystem::path& path) {
  return array_of<std::int64_t>(path, "integers", integers_of);
}

}  // namespace headwave
