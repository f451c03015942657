#include "normalizer.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <openssl/evp.h>
#include <unicode/brkiter.h>
#include <unicode/bytestream.h>
#include <unicode/normalizer2.h>
#include <unicode/uchar.h>
#include <unicode/uniset.h>
#include <unicode/utext.h>

#include "../../core/errors/error.h"
#include "../files/unicode_text.h"

namespace headwave {

namespace {

void check(UErrorCode code, const char* what) {
  if (U_FAILURE(code))
    throw FormatError(fmt::format("ICU: {} failed with {}: check its data files", what, u_errorName(code)));
}

const icu::Normalizer2* icu_normalizer(NormalForm form) {
  constexpr std::array forms{&icu::Normalizer2::getNFCInstance, &icu::Normalizer2::getNFDInstance,
                             &icu::Normalizer2::getNFKCInstance, &icu::Normalizer2::getNFKDInstance};
  UErrorCode code = U_ZERO_ERROR;
  const icu::Normalizer2* found = forms[static_cast<std::size_t>(form)](code);
  check(code, "a normal form");
  return found;
}

// ICU's filtered normaliser refers to its set of characters, so both live together.
struct FilteredForm {
  explicit FilteredForm(NormalForm form) : normalizer(*icu_normalizer(form), assigned) {}
  icu::UnicodeSet assigned = [] {
    UErrorCode code = U_ZERO_ERROR;
    icu::UnicodeSet set(icu::UnicodeString::fromUTF8("[:age=9.0:]"), code);
    check(code, "the set of Unicode 9");
    set.freeze();
    return set;
  }();
  icu::FilteredNormalizer2 normalizer;
};

bool is_ascii(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

/// Changes a text character by character.
/// @param change  appends the replacement of a character to a text
Normalizer by_character(void (*change)(std::string& text, char32_t character)) {
  return [change](std::string_view text) {
    std::string changed;
    changed.reserve(text.size());
    for (std::size_t at = 0; at < text.size(); at += utf8_length(text[at])) change(changed, code_point(text, at));
    return changed;
  };
}

// BERT uses the classes of Unicode 8. Characters whose class changed later are listed where they matter.
bool is_control(char32_t c) {
  return c != '\t' && c != '\n' && c != '\r' && has_category(c, U_GC_CC_MASK | U_GC_CF_MASK | U_GC_CO_MASK, 8);
}

bool is_nonspacing_mark(char32_t c) {
  constexpr std::array<char32_t, 4> marks_only_later = {0x1885, 0x1886, 0xA9BD, 0x111C9};
  constexpr char32_t mark_no_longer = 0x1734;
  if (std::find(marks_only_later.begin(), marks_only_later.end(), c) != marks_only_later.end()) return false;
  return c == mark_no_longer || has_category(c, U_GC_MN_MASK, 8);
}

// The blocks that BERT's release names, including its gap before 2B920.
bool is_ideograph(char32_t c) {
  constexpr std::array<std::pair<char32_t, char32_t>, 8> blocks = {{{0x3400, 0x4DBF},
                                                                    {0x4E00, 0x9FFF},
                                                                    {0xF900, 0xFAFF},
                                                                    {0x20000, 0x2A6DF},
                                                                    {0x2A700, 0x2B73F},
                                                                    {0x2B740, 0x2B81F},
                                                                    {0x2B920, 0x2CEAF},
                                                                    {0x2F800, 0x2FA1F}}};
  return std::any_of(blocks.begin(), blocks.end(),
                     [c](const auto& block) { return block.first <= c && c <= block.second; });
}

}  // namespace

Normalizer normal_form(NormalForm form) {
  return [filtered = std::make_shared<const FilteredForm>(form)](std::string_view text) {
    if (is_ascii(text)) return std::string(text);
    std::string normal;
    icu::StringByteSink<std::string> sink(&normal, static_cast<std::int32_t>(text.size()));
    UErrorCode code = U_ZERO_ERROR;
    filtered->normalizer.normalizeUTF8(0, icu::StringPiece(text.data(), static_cast<std::int32_t>(text.size())), sink,
                                       nullptr, code);
    check(code, "normalising a text");
    return normal;
  };
}

Normalizer lower_case() {
  return by_character([](std::string& lower, char32_t c) {
    // The only character whose lower case is two characters in every language.
    constexpr char32_t dotted_capital_i = 0x130;
    if (c == dotted_capital_i)
      lower += "i\xCC\x87";
    else
      append_utf8(lower, static_cast<char32_t>(u_tolower(static_cast<UChar32>(c))));
  });
}

Normalizer without_marks() {
  return by_character([](std::string& bare, char32_t c) {
    // Two characters were marks in Unicode 9 and no longer are; one became a mark.
    const bool is_mark = c != 0x111C9 && (has_category(c, U_GC_M_MASK, 9) || c == 0x1CF2 || c == 0x1CF3);
    if (!is_mark) append_utf8(bare, c);
  });
}

Normalizer prepended(std::string prefix) {
  return [prefix = std::move(prefix)](std::string_view text) {
    return text.empty() ? std::string() : prefix + std::string(text);
  };
}

Normalizer replaced(TextFinder matches, std::string to) {
  return [matches = std::move(matches), to = std::move(to)](std::string_view text) {
    std::string result;
    result.reserve(text.size());
    std::size_t done = 0;
    for (const auto& [begin, end] : matches(text)) {
      result.append(text, done, begin - done).append(to);
      done = end;
    }
    return result.append(text, done);
  };
}

Normalizer stripped(bool at_begin, bool at_end) {
  return [at_begin, at_end](std::string_view text) {
    while (at_begin && !text.empty() && is_white_space(code_point(text, 0))) text.remove_prefix(utf8_length(text[0]));
    for (char32_t last = 0; at_end && !text.empty() && is_white_space(last = last_code_point(text));)
      text.remove_suffix(last < 0x80 ? 1 : last < 0x800 ? 2 : 3);
    return std::string(text);
  };
}

Normalizer bert_normalizer(const BertTextOptions& options) {
  std::vector<Normalizer> steps;
  if (options.clean_text)
    steps.push_back(by_character([](std::string& cleaned, char32_t c) {
      if (c != 0 && c != 0xFFFD && !is_control(c)) append_utf8(cleaned, is_white_space(c) ? U' ' : c);
    }));
  if (options.handle_chinese_chars)
    steps.push_back(by_character([](std::string& apart, char32_t c) {
      const char* const around = is_ideograph(c) ? " " : "";
      append_utf8(apart += around, c);
      apart += around;
    }));
  if (options.strip_accents.value_or(options.lowercase)) {
    steps.push_back(normal_form(NormalForm::nfd));
    steps.push_back(by_character([](std::string& bare, char32_t c) {
      if (!is_nonspacing_mark(c)) append_utf8(bare, c);
    }));
  }
  if (options.lowercase) steps.push_back(lower_case());
  return in_sequence(std::move(steps));
}

Normalizer in_sequence(std::vector<Normalizer> steps) {
  return [steps = std::move(steps)](std::string_view text) {
    std::string changed(text);
    for (const Normalizer& step : steps) changed = step(changed);
    return changed;
  };
}

namespace {

std::string bytes_of_base64(std::string_view base64, const std::string& place) {
  std::string bytes(base64.size() / 4 * 3 + 3, '\0');
  const int length =
      EVP_DecodeBlock(reinterpret_cast<unsigned char*>(bytes.data()),
                      reinterpret_cast<const unsigned char*>(base64.data()), static_cast<int>(base64.size()));
  if (length < 0 || base64.size() % 4 != 0)
    throw FormatError(fmt::format("{}: 'precompiled_charsmap' is not valid base64", place));
  const auto padding = static_cast<std::size_t>(base64.ends_with("==") ? 2 : base64.ends_with('=') ? 1 : 0);
  bytes.resize(std::max(static_cast<std::size_t>(length), padding) - padding);
  return bytes;
}

constexpr std::size_t longest_becomes = 1024;

/// Calls `seen` for every grapheme of a text.
template <class Seen>
void each_grapheme(std::string_view text, Seen seen) {
  UErrorCode code = U_ZERO_ERROR;
  const std::unique_ptr<icu::BreakIterator> breaks(
      icu::BreakIterator::createCharacterInstance(icu::Locale::getRoot(), code));
  check(code, "finding graphemes");
  UText opened = UTEXT_INITIALIZER;
  utext_openUTF8(&opened, text.data(), static_cast<std::int64_t>(text.size()), &code);
  const std::unique_ptr<UText, decltype(&utext_close)> closing(&opened, &utext_close);
  if (U_SUCCESS(code)) breaks->setText(&opened, code);
  check(code, "finding graphemes");
  std::int32_t begin = breaks->first();
  for (std::int32_t end = breaks->next(); end != icu::BreakIterator::DONE; begin = end, end = breaks->next())
    seen(text.substr(static_cast<std::size_t>(begin), static_cast<std::size_t>(end - begin)));
}

/// SentencePiece's replacement table: a double array over the bytes of keys, and the replacements, each ended
/// by a NUL. The table may be damaged: a lookup that leads out of it is an error.
///
/// Source: Kudo and Richardson 2018, section 3.3; Yata, Oono, Morita, Fuketa, Sumitomo and Aoe 2007 (double
/// arrays).
class PrecompiledCharsmap {
 public:
  struct Match {
    std::size_t length = 0;    ///< bytes of the key
    std::string_view becomes;  ///< points into the table
  };

  /// @param bytes  the size of the array in bytes (4 bytes, little-endian), the array, the replacements
  /// @param place  what messages call the table
  /// @throws FormatError if the array is larger than the bytes, or the replacements are not UTF-8
  PrecompiledCharsmap(std::string_view bytes, std::string place) : place_(std::move(place)) {
    const auto unit_at = [&](std::size_t at) {
      std::uint32_t value = 0;
      for (std::size_t byte = 4; byte-- > 0;) value = value << 8U | static_cast<unsigned char>(bytes[at + byte]);
      return value;
    };
    const std::size_t size = bytes.size() < 4 ? 0 : unit_at(0);
    if (size < 4 || size % 4 != 0 || size > bytes.size() - 4)
      throw FormatError(fmt::format("{}: a table of {} bytes does not fit in {} bytes: the file is damaged", place_,
                                    size, bytes.size()));
    units_.reserve(size / 4);
    for (std::size_t at = 4; at < size + 4; at += 4) units_.push_back(unit_at(at));
    texts_ = bytes.substr(size + 4);
    if (!is_valid_utf8(texts_)) throw FormatError(fmt::format("{}: its replacement strings are not UTF-8", place_));
  }

  /// The shortest key that a text begins with. A unit holds a label in its low byte, in bit 8 whether a key
  /// ends there, and in higher bits the distance to its children.
  /// @throws FormatError if the lookup leads out of the table
  [[nodiscard]] std::optional<Match> shortest(std::string_view text) const {
    const auto offset = [](std::uint32_t unit) { return std::size_t{unit >> 10U} << ((unit & 0x200U) >> 6U); };
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
            fmt::format("{}: the replacement at byte {} of {} should have at most {} bytes and end with a NUL", place_,
                        begin, texts_.size(), longest_becomes));
      return Match{length, becomes.substr(0, end)};
    }
    return std::nullopt;
  }

 private:
  [[nodiscard]] std::uint32_t unit(std::size_t at) const {
    if (at >= units_.size())
      throw FormatError(fmt::format("{}: the table refers to entry {}, but has {} entries: the file is damaged", place_,
                                    at, units_.size()));
    return units_[at];
  }

  std::vector<std::uint32_t> units_;
  std::string texts_;
  std::string place_;
};

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
