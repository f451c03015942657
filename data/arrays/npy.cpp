#include "npy.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <functional>
#include <limits>
#include <numeric>
#include <optional>
#include <span>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "../../core/errors/error.h"
#include "../files/json_file.h"
#include "../files/printable.h"
#include "../files/unicode_text.h"
#include "array_block.h"

namespace headwave {

namespace {

constexpr std::string_view magic = "\x93NUMPY";
constexpr std::size_t longest_npy_header = std::size_t{1} << 20U, around_npy_header = 64;
constexpr std::size_t most_npy_text = std::size_t{1} << 30U;

struct Element {
  std::string dtype;
  std::optional<std::size_t> bytes;  // per entry; unset for structured arrays
  std::optional<NumberType> number;  // unset: not real numbers
};

/// Parses a type such as "<f4"; nothing if there is no such type.
std::optional<Element> element_of(std::string_view descr) {
  if (descr.starts_with('[')) return Element{"structured", {}, {}};
  if (descr.size() < 2 || std::string_view("<>|=").find(descr[0]) == descr.npos) return std::nullopt;
  if (const auto type = npy_type(descr.substr(1))) return Element{name_of(*type), size_of(*type), type};
  // Strings, complex numbers, dates and the like: only the size of an entry is needed.
  const std::string_view digits = descr.substr(2, descr.find('[') - 2);
  std::size_t length = 0;
  const auto [stop, problem] = std::from_chars(digits.data(), digits.data() + digits.size(), length);
  if (problem != std::errc() || stop != digits.data() + digits.size() || length > (std::size_t{1} << 31U) ||
      std::string_view("fcMmUSaV").find(descr[1]) == descr.npos)
    return std::nullopt;
  const bool text = descr[1] == 'U' || descr[1] == 'S' || descr[1] == 'a';
  return Element{text ? "string" : std::string(descr), descr[1] == 'U' ? 4 * length : length, {}};
}

bool holds_objects(const NpyInfo& info) {
  if (!info.descr.starts_with('[')) return info.descr.find('O') < 2;  // "|O", "O", "|O8"
  return info.descr.find("|O") != info.descr.npos || info.descr.find("'O") != info.descr.npos ||
         info.descr.find("\"O") != info.descr.npos;
}

/// A header as JSON: tuples become lists, True and False lower-case, and trailing commas are dropped.
std::string json_of_header(std::string_view text, const std::string& file) {
  const auto refuse = [&](std::size_t at, const char* problem) {
    throw FormatError(
        fmt::format("{}: byte {} of the npy header: {}: '{}'", file, at, problem, printable(text.substr(at, 20))));
  };
  std::string json;
  char quote = '\0';
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (quote != '\0') {
      // NumPy writes no escapes in types, and the column names of structured arrays are not used here.
      if (c == '\\' || c == '\0' || c == '\n' || c == '"') refuse(at, "expected a quoted string without backslashes");
      json += c == quote ? '"' : c;
      if (c == quote) quote = '\0';
    } else if (c == '\'' || c == '"') {
      quote = c;
      json += '"';
    } else if (c == '(' || c == '[' || c == '{') {
      json += c == '(' ? '[' : c;
    } else if (c == ')' || c == ']' || c == '}') {
      json.resize(json.find_last_not_of(' ') + 1);
      if (json.ends_with(',')) json.pop_back();
      json += c == ')' ? ']' : c;
    } else if (c == 'L' && !json.empty() && json.back() >= '0' && json.back() <= '9') {
      continue;  // Python 2 wrote 3L
    } else {
      json += c == 'T' ? 't' : c == 'F' ? 'f' : c;
    }
  }
  return json;
}

NpyInfo info_of_header(std::string_view text, const std::string& file) {
  const nlohmann::json header = json_of_text(json_of_header(text, file), file + ": the npy header");
  const auto refuse = [&](const char* expected) {
    throw FormatError(fmt::format("{}: the npy header: expected {}, found '{}'", file, expected, printable(text)));
  };
  if (!header.is_object() || header.size() != 3 || !header.contains("descr") || !header.contains("fortran_order") ||
      !header.contains("shape"))
    refuse("the keys descr, fortran_order and shape, and no others");
  const nlohmann::json &type = header["descr"], &order = header["fortran_order"], &shape = header["shape"];
  const std::size_t after_key = text.find_first_not_of("'\": ", text.find("shape") + 5);
  if (!shape.is_array() || after_key == text.npos || text[after_key] != '(') refuse("a tuple as shape");
  if (!order.is_boolean()) refuse("True or False as fortran_order");
  const auto is_column = [](const nlohmann::json& column) { return column.is_array() && column.size() >= 2; };
  if (!type.is_string() && !(type.is_array() && std::ranges::all_of(type, is_column))) refuse("a type as descr");
  NpyInfo info;
  info.descr = type.is_string() ? type.get<std::string>() : type.dump();
  info.fortran_order = order.get<bool>();
  for (const nlohmann::json& size : shape) {
    if (!size.is_number_unsigned() || size.get<std::uint64_t>() > std::numeric_limits<Index>::max())
      refuse("sizes from 0 to 2^63 - 1");
    info.shape.push_back(size.get<Index>());
  }
  return info;
}

/// Parses everything before the numbers: magic, version, length of the header, header.
NpyInfo info_of(std::string_view text, std::size_t bytes, const std::string& name) {
  if (!text.starts_with(magic) || text.size() < magic.size() + 4)
    throw FormatError(fmt::format("{}: expected a .npy file, which begins with \\x93NUMPY", name));
  const auto byte = [&text](std::size_t i) { return static_cast<std::size_t>(static_cast<unsigned char>(text[i])); };
  const std::size_t major = byte(6);
  const std::size_t minor = byte(7);
  if (major < 1 || major > 3 || minor != 0)
    throw FormatError(fmt::format("{}: the npy format version is {}.{}, expected 1.0, 2.0 or 3.0", name, major, minor));
  const std::size_t length_bytes = major == 1 ? 2 : 4;
  const std::size_t start = magic.size() + 2 + length_bytes;
  if (text.size() < start)
    throw FormatError(fmt::format("{}: the npy header is incomplete: the file is cut short", name));
  std::size_t length = 0;
  for (std::size_t i = 0; i < length_bytes; ++i) length |= byte(8 + i) << (8 * i);
  if (length > text.size() - start || length > longest_npy_header)
    throw FormatError(
        fmt::format("{}: the npy header should have {} bytes; expected at most {} in a file of {} bytes: the file is "
                    "damaged or cut short",
                    name, length, longest_npy_header, bytes));
  NpyInfo info = info_of_header(text.substr(start, length), name);
  info.data = start + length;
  return info;
}

void check_size(const NpyInfo& info, const std::optional<std::size_t>& entry_bytes, std::size_t file_bytes,
                const std::string& name) {
  std::size_t bytes = entry_bytes.value_or(1);
  for (const Index size : info.shape)
    if (__builtin_mul_overflow(bytes, static_cast<std::size_t>(size), &bytes))
      throw FormatError(
          fmt::format("{}: the shape has more entries than any file can hold: the file is damaged", name));
  if (entry_bytes && bytes != file_bytes - info.data)
    throw FormatError(
        fmt::format("{}: the header promises {} bytes of {}, but {} bytes follow it: the file is cut short or has "
                    "something appended",
                    name, bytes, info.dtype, file_bytes - info.data));
}

void complete_info(NpyInfo& info, std::size_t bytes, const std::string& name) {
  if (holds_objects(info))
    throw FormatError(
        fmt::format("{}: holds Python objects, a pickle that would run code when loaded; save numbers as in "
                    "numpy.save(path, numpy.asarray(x, dtype='float32')), strings with dtype=str",
                    name));
  const std::optional<Element> element = element_of(info.descr);
  if (!element)
    throw FormatError(
        fmt::format("{}: the npy header: descr '{}' is not a NumPy type", name, printable(info.descr, 40)));
  info.dtype = element->dtype;
  info.big_endian = info.descr.starts_with('>');
  info.number = element->number;
  check_size(info, element->bytes, bytes, name);
}

/// Decodes one string: UCS-4 characters or bytes, padded with zeros.
std::string letters_of(std::span<const std::byte> entry, bool wide, bool big_endian) {
  std::string text;
  for (std::size_t at = 0; at + (wide ? 4 : 1) <= entry.size(); at += wide ? 4 : 1) {
    char32_t letter = std::to_integer<char32_t>(entry[at]);
    for (std::size_t b = 1; wide && b < 4; ++b)
      letter = big_endian ? letter << 8U | std::to_integer<char32_t>(entry[at + b])
                          : letter | std::to_integer<char32_t>(entry[at + b]) << (8 * b);
    const bool is_letter = letter <= 0x10FFFF && (letter < 0xD800 || letter > 0xDFFF);
    if (wide)
      append_utf8(text, is_letter ? letter : U'\xFFFD');
    else
      text += static_cast<char>(letter);
  }
  return valid_utf8(text.substr(0, text.find_last_not_of('\0') + 1));
}

}  // namespace

NpyInfo npy_info(const FileBytes& bytes, const std::string& name) {
  NpyInfo info = info_of(bytes.text(0, longest_npy_header + around_npy_header), bytes.size(), name);
  complete_info(info, bytes.size(), name);
  return info;
}

NpyInfo npy_info(const std::filesystem::path& path) {
  return npy_info(FileBytes(path), shown_path(path));
}

PlacedNumbers placed_numbers(const NpyInfo& info, const std::string& name) {
  if (!info.number)
    throw FormatError(
        fmt::format("{}: holds {} values, expected real numbers{}", name, info.dtype,
                    info.descr.ends_with("V2") ? "; the npy format has no bfloat16: save x.astype('float32')" : ""));
  return {info.shape, *info.number, info.big_endian ? ByteOrder::big : ByteOrder::little, info.fortran_order,
          info.data};
}

std::vector<std::string> npy_texts(const FileBytes& bytes, const NpyInfo& info, const std::string& name) {
  const std::size_t size = bytes.size() - info.data;
  const auto entries = static_cast<std::size_t>(
      std::accumulate(info.shape.begin(), info.shape.end(), Index{1}, std::multiplies<Index>()));
  if (info.dtype != "string" || info.fortran_order)
    throw FormatError(fmt::format("{}: holds {} values{}, expected strings in C order", name, info.dtype,
                                  info.fortran_order ? " in Fortran order" : ""));
  if (size > most_npy_text || entries > most_npy_text)
    throw FormatError(fmt::format("{}: holds {} strings in {} bytes, expected at most {} of each", name, entries, size,
                                  most_npy_text));
  std::vector<std::byte> raw(size);
  bytes.read(info.data, raw);
  const std::size_t entry = entries == 0 ? 0 : size / entries;
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < entries; ++i)
    texts.push_back(letters_of(std::span(raw).subspan(i * entry, entry), info.descr[1] == 'U', info.big_endian));
  return texts;
}

}  // namespace headwave
