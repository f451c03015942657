#include "input_text.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <memory>
#include <mutex>
#include <utility>

#include <fmt/format.h>
#include <unicode/ucnv.h>
#include <unicode/ucnv_cb.h>
#include <unicode/utf16.h>
#include <unistd.h>

#include "../../core/errors/error.h"
#include "digest.h"
#include "file_content.h"
#include "printable.h"
#include "unicode_text.h"

namespace headwave {

namespace {

using Converter = std::unique_ptr<UConverter, decltype(&ucnv_close)>;

constexpr char32_t replacement = 0xFFFD;

Converter converter_of(const std::string& encoding) {
  UErrorCode status = U_ZERO_ERROR;
  // An empty name would be the platform's own encoding.
  UConverter* converter = encoding.empty() ? nullptr : ucnv_open(encoding.c_str(), &status);
  return {U_FAILURE(status) != 0 ? nullptr : converter, &ucnv_close};
}

/// The likely encoding of a text with NULs or with a byte-order mark of two bytes.
const char* likely_encoding(std::string_view bytes) {
  if (bytes.starts_with("\xff\xfe") || bytes.starts_with("\xfe\xff")) return "UTF-16";
  const std::string_view sample = bytes.substr(0, 512);
  std::array<std::size_t, 2> zeros{};
  for (std::size_t i = 0; i < sample.size(); ++i) zeros[i % 2] += sample[i] == '\0' ? 1U : 0U;
  if (8 * zeros[1] > sample.size() && zeros[0] == 0) return "UTF-16LE";
  if (8 * zeros[0] > sample.size() && zeros[1] == 0) return "UTF-16BE";
  return "windows-1252";
}

/// Whether an encoding needs a byte-order mark that the text does not have.
bool is_order_unknown(const UConverter* converter, std::string_view bytes) {
  using namespace std::string_view_literals;
  const UConverterType type = ucnv_getType(converter);
  if (type == UCNV_UTF32) return !bytes.starts_with("\xff\xfe\0\0"sv) && !bytes.starts_with("\0\0\xfe\xff"sv);
  return type == UCNV_UTF16 && !bytes.starts_with("\xff\xfe") && !bytes.starts_with("\xfe\xff");
}

/// Replaces ICU's callback for bytes that cannot be decoded, in order to count them.
void replace_and_count(const void* replaced, UConverterToUnicodeArgs* arguments, const char* /*bytes*/,
                       std::int32_t /*length*/, UConverterCallbackReason reason, UErrorCode* status) {
  if (reason > UCNV_IRREGULAR) return;  // the converter is reset or closed
  *status = U_ZERO_ERROR;
  const UChar character = replacement;
  ucnv_cbToUWriteUChars(arguments, &character, 1, 0, status);
  ++*static_cast<Index*>(const_cast<void*>(replaced));
}

/// Moves characters from UTF-16 to UTF-8; half of a surrogate pair stays for the next call.
void move_characters(std::u16string& from, DecodedText& to) {
  const auto size = static_cast<std::int32_t>(from.size());
  std::int32_t at = 0;
  while (at < size && !(at + 1 == size && U16_IS_LEAD(from[static_cast<std::size_t>(at)]))) {
    UChar32 c = 0;
    U16_NEXT(from.data(), at, size, c);
    if (U_IS_SURROGATE(c)) c = 0;  // half of a pair by itself is no character
    ++to.characters;
    if (c == 0) ++to.replaced;
    append_utf8(to.text, c == 0 ? replacement : static_cast<char32_t>(c));
  }
  from.erase(0, static_cast<std::size_t>(at));
}

}  // namespace

bool is_encoding(const std::string& name) {
  return converter_of(name) != nullptr;
}

void require_utf8(std::string_view bytes, const WantedText& wanted) {
  const std::size_t bad = std::min(ill_formed_utf8(bytes), bytes.find('\0'));
  if (bad == std::string_view::npos) return;
  const auto line = 1 + std::count(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(bad), '\n');
  const FileContent content = content_of(bytes);
  const std::string found = bytes[bad] == '\0'
                                ? "a NUL byte, which no text has"
                                : fmt::format("byte 0x{:02X} is not UTF-8", static_cast<unsigned char>(bytes[bad]));
  if (content != FileContent::other)
    throw FormatError(fmt::format("{}: this is {}, expected {} (line {}, offset {}: {})", wanted.name,
                                  words_of(content), wanted.expected, line, bad, found));
  const std::string finding =
      fmt::format("{}: line {}, offset {}: {}; expected {}", wanted.name, line, bad, found, wanted.expected);
  if (!wanted.advice.empty()) throw FormatError(fmt::format("{}; {}", finding, wanted.advice));
  throw FormatError(
      finding, {give("encoding", likely_encoding(bytes)), give("encoding", "UTF-8", "to replace what is not UTF-8")});
}

DecodedText decoded_text(std::string_view bytes, const std::string& encoding, std::size_t enough) {
  const Converter converter = converter_of(encoding);
  if (!converter) throw FormatError(fmt::format("there is no encoding '{}' that is known", printable(encoding)));
  if (is_order_unknown(converter.get(), bytes))
    throw FormatError(fmt::format("text in {0} that does not begin with a byte order mark; say {0}LE or {0}BE",
                                  ucnv_getType(converter.get()) == UCNV_UTF16 ? "UTF-16" : "UTF-32"));
  DecodedText decoded;
  UErrorCode status = U_ZERO_ERROR;
  ucnv_setToUCallBack(converter.get(), replace_and_count, &decoded.replaced, nullptr, nullptr, &status);
  std::array<UChar, 4096> buffer{};
  std::u16string waiting;
  const char* at = bytes.data();
  const char* const end = bytes.data() + bytes.size();
  for (bool more = true; more;) {
    status = U_ZERO_ERROR;
    UChar* filled = buffer.data();
    ucnv_toUnicode(converter.get(), &filled, buffer.data() + buffer.size(), &at, end, nullptr, 1, &status);
    more = status == U_BUFFER_OVERFLOW_ERROR;
    if (!more && U_FAILURE(status) != 0)
      throw FormatError(fmt::format("text cannot be decoded as {}: {}", printable(encoding), u_errorName(status)));
    const std::size_t searched = decoded.text.size();
    waiting.append(buffer.data(), filled);
    move_characters(waiting, decoded);
    if (decoded.text.size() <= enough) continue;
    const std::size_t line_end = decoded.text.find('\n', std::max(enough, searched));
    if (line_end == std::string::npos && decoded.text.size() / 2 < enough) continue;
    decoded.text.resize(line_end != std::string::npos ? line_end + 1 : decoded.text.size());
    break;
  }
  decoded.bytes = static_cast<std::size_t>(at - bytes.data());
  decoded.text.erase(0, decoded.text.size() - without_byte_order_mark(decoded.text).size());
  return decoded;
}

namespace {

namespace fs = std::filesystem;

constexpr std::size_t most_of_a_stream = std::size_t{1} << 30U;
constexpr std::size_t everything = std::string::npos;

/// A text up to the first line end after `enough` bytes, or up to the end of a character after twice as many.
std::string_view needed(std::string_view text, std::size_t enough) {
  if (text.size() <= enough) return text;
  const std::size_t most = text.size() / 2 < enough ? text.size() : 2 * enough;
  const std::size_t line_end = text.substr(0, most).find('\n', enough);
  if (line_end != std::string_view::npos) return text.substr(0, line_end + 1);
  return most == text.size() ? text : text.substr(0, whole_characters(text.substr(0, most)));
}

/// What is needed of standard input.
std::string standard_input(std::size_t enough) {
  static std::mutex reading;
  static std::string kept;
  static bool ended = false;
  const std::lock_guard lock(reading);
  const std::size_t most = enough < most_of_a_stream / 2 ? 2 * enough : most_of_a_stream;
  std::array<char, 1U << 16U> piece{};
  while (!ended && kept.size() < most) {
    const ssize_t count = ::read(STDIN_FILENO, piece.data(), piece.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) throw IoError(fmt::format("standard input: cannot be read: {}", std::strerror(errno)));
    ended = count == 0;
    kept.append(piece.data(), static_cast<std::size_t>(count));
  }
  if (!ended && enough == everything)
    throw IoError("standard input: gives more than 1 GiB, and all of it would be needed; write it to a file");
  return std::string(needed(kept, enough));
}

bool is_standard_input(const fs::path& path) {
  return path == "-";
}

void require_file(const fs::path& path) {
  std::error_code ignored;
  const fs::file_type type = fs::status(path, ignored).type();
  if (type == fs::file_type::fifo || type == fs::file_type::character || type == fs::file_type::socket)
    throw IoError(
        fmt::format("{}: a pipe or device, expected a file; to read a pipe, give - for the file's name and "
                    "the text on standard input",
                    shown_path(path)));
}

}  // namespace

std::string input_name(const fs::path& path) {
  return is_standard_input(path) ? "standard input" : path.string();
}

std::string input_name(const TextPlace& place) {
  return place.text ? place.path.string() : input_name(place.path);
}

InputText::InputText(const TextPlace& place, const InputTextOptions& options)
    : name_(input_name(place)), memory_(place.text) {
  const fs::path& path = place.path;
  const bool is_stream = !memory_ && is_standard_input(path);
  // For one byte of UTF-8 an encoding may need up to 4.
  const std::size_t bytes_per_byte = options.encoding.empty() ? 1 : 4;
  const std::size_t enough = options.enough == 0 ? everything : bytes_per_byte * options.enough;
  if (!is_stream && !memory_) {
    require_file(path);
    file_ = std::make_unique<const MappedFile>(path);
  }
  if (is_stream) stream_ = standard_input(enough);
  const std::string_view bytes = memory_     ? std::string_view(*memory_)
                                 : is_stream ? std::string_view(stream_)
                                             : file_->text();
  if (bytes.empty())
    throw FormatError(fmt::format("{}: {} is empty; expected {}", name_, file_ ? "the file" : "it", options.expected));
  if (options.encoding.empty()) {
    text_ = needed(bytes, enough);
    require_utf8(text_, {name_, options.expected, options.advice});
    text_ = without_byte_order_mark(text_);
  } else {
    decode(bytes, options);
  }
  provenance_["source_file"] = path.string();
  provenance_["source_sha256"] =
      file_ ? sha256_list({path}) : fmt::format("{}  {}", sha256_of_text(bytes), is_stream ? "-" : name_);
}

void InputText::decode(std::string_view bytes, const InputTextOptions& options) {
  DecodedText decoded;
  try {
    decoded = decoded_text(bytes, options.encoding, options.enough == 0 ? everything : options.enough);
  } catch (const FormatError& problem) {
    throw FormatError(fmt::format("{}: {}", name_, problem.what()));
  }
  decoded_ = std::move(decoded.text);
  text_ = decoded_;
  provenance_["encoding"] = options.encoding;
  provenance_["replaced_characters"] =
      decoded.characters == 0 ? 0.0 : static_cast<double>(decoded.replaced) / static_cast<double>(decoded.characters);
}

}  // namespace headwave
