#include "text_encoding.h"

#include <algorithm>
#include <array>
#include <memory>
#include <utility>

#include <fmt/format.h>
#include <unicode/ucnv.h>
#include <unicode/ucnv_cb.h>
#include <unicode/utf16.h>

#include "../../core/errors/error.h"
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

}  // namespace headwave
