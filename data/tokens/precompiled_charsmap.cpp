#include "precompiled_charsmap.h"

#include <algorithm>
#include <memory>
#include <utility>

#include <fmt/format.h>
#include <openssl/evp.h>
#include <unicode/brkiter.h>
#include <unicode/utext.h>

#include "../../core/errors/error.h"
#include "../files/unicode_text.h"

namespace headwave {

namespace {

std::string bytes_of_base64(std::string_view base64, const std::string& place) {
  std::string bytes(base64.size() / 4 * 3 + 3, '\0');
  const int length =
      EVP_DecodeBlock(reinterpret_cast<unsigned char*>(bytes.data()),
                      reinterpret_cast<const unsigned char*>(base64.data()), static_cast<int>(base64.size()));
  if (length < 0 || base64.size() % 4 != 0) throw FormatError(fmt::format("{}: this is no base64", place));
  const auto padding = static_cast<std::size_t>(base64.ends_with("==") ? 2 : base64.ends_with('=') ? 1 : 0);
  bytes.resize(std::max(static_cast<std::size_t>(length), padding) - padding);
  return bytes;
}

constexpr std::size_t longest_becomes = 1024;

void check_icu(UErrorCode code) {
  if (U_FAILURE(code))
    throw FormatError(fmt::format("ICU: finding graphemes failed with {}: check its data files", u_errorName(code)));
}

/// Hands the graphemes of a text to `seen`.
template <class Seen>
void each_grapheme(std::string_view text, Seen seen) {
  UErrorCode code = U_ZERO_ERROR;
  const std::unique_ptr<icu::BreakIterator> breaks(
      icu::BreakIterator::createCharacterInstance(icu::Locale::getRoot(), code));
  check_icu(code);
  UText opened = UTEXT_INITIALIZER;
  utext_openUTF8(&opened, text.data(), static_cast<std::int64_t>(text.size()), &code);
  const std::unique_ptr<UText, decltype(&utext_close)> closing(&opened, &utext_close);
  check_icu(code);
  breaks->setText(&opened, code);
  check_icu(code);
  std::int32_t begin = breaks->first();
  for (std::int32_t end = breaks->next(); end != icu::BreakIterator::DONE; begin = end, end = breaks->next())
    seen(text.substr(static_cast<std::size_t>(begin), static_cast<std::size_t>(end - begin)));
}

void append_changed(std::string& out, const PrecompiledCharsmap& map, std::string_view grapheme) {
  if (grapheme.size() < 6)
    if (const auto match = map.shortest(grapheme)) {
      out += match->becomes;
      return;
    }
  for (std::size_t at = 0; at < grapheme.size();) {
    const std::string_view character = grapheme.substr(at, utf8_length(grapheme[at]));
    const auto match = map.shortest(character);
    out += match ? match->becomes : character;
    at += character.size();
  }
}

}  // namespace

PrecompiledCharsmap::PrecompiledCharsmap(std::string_view bytes, std::string place) : place_(std::move(place)) {
  const auto unit_at = [&](std::size_t at) {
    std::uint32_t value = 0;
    for (std::size_t byte = 4; byte-- > 0;) value = value << 8U | static_cast<unsigned char>(bytes[at + byte]);
    return value;
  };
  const std::size_t size = bytes.size() < 4 ? 0 : unit_at(0);
  if (size < 4 || size % 4 != 0 || size > bytes.size() - 4)
    throw FormatError(
        fmt::format("{}: a table of {} bytes does not fit in {}: the file is broken", place_, size, bytes.size()));
  units_.reserve(size / 4);
  for (std::size_t at = 4; at < size + 4; at += 4) units_.push_back(unit_at(at));
  texts_ = bytes.substr(size + 4);
  if (!is_valid_utf8(texts_)) throw FormatError(fmt::format("{}: what characters become is not UTF-8", place_));
}

std::uint32_t PrecompiledCharsmap::unit(std::size_t at) const {
  if (at >= units_.size())
    throw FormatError(
        fmt::format("{}: the table leads to place {} of {}: the file is broken", place_, at, units_.size()));
  return units_[at];
}

// A unit has a label in its low byte, in bit 8 whether a key ends there, and above it the distance to its
// children.
std::optional<PrecompiledCharsmap::Match> PrecompiledCharsmap::found(std::string_view text, bool longest) const {
  const auto offset = [](std::uint32_t unit) { return std::size_t{unit >> 10U} << ((unit & 0x200U) >> 6U); };
  std::optional<Match> match;
  std::size_t at = offset(unit(0));
  for (std::size_t length = 1; length <= text.size(); ++length) {
    const std::uint32_t byte = static_cast<unsigned char>(text[length - 1]);
    at ^= byte;
    if (byte == 0 || at >= units_.size()) break;
    const std::uint32_t here = units_[at];
    if ((here & 0x800000FFU) != byte) break;
    at ^= offset(here);
    if ((here & 0x100U) == 0) continue;
    const std::size_t begin = unit(at) & 0x7FFFFFFFU;
    const std::string_view becomes =
        std::string_view(texts_).substr(std::min(begin, texts_.size()), longest_becomes + 1);
    const std::size_t end = becomes.find('\0');
    if (end == becomes.npos || (static_cast<unsigned char>(becomes.front()) & 0xC0U) == 0x80U)
      throw FormatError(
          fmt::format("{}: a character becomes the text at {} of {}, expected one of at most {} bytes that a NUL ends",
                      place_, begin, texts_.size(), longest_becomes));
    match = Match{length, becomes.substr(0, end)};
    if (!longest) break;
  }
  return match;
}

std::optional<PrecompiledCharsmap::Match> PrecompiledCharsmap::shortest(std::string_view text) const {
  return found(text, false);
}

std::optional<PrecompiledCharsmap::Match> PrecompiledCharsmap::longest(std::string_view text) const {
  return found(text, true);
}

Normalizer precompiled_normalizer(std::string_view base64, const std::string& place) {
  return [map = std::make_shared<const PrecompiledCharsmap>(bytes_of_base64(base64, place), place)](
             std::string_view text) {
    std::string changed;
    changed.reserve(text.size());
    each_grapheme(text, [&](std::string_view grapheme) { append_changed(changed, *map, grapheme); });
    return changed;
  };
}

}  // namespace headwave
