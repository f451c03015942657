#include "normalizer.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>

#include <fmt/format.h>
#include <unicode/bytestream.h>
#include <unicode/normalizer2.h>
#include <unicode/uchar.h>
#include <unicode/uniset.h>

#include "../../core/numbers/error.h"
#include "../files/unicode_text.h"

namespace headwave {

namespace {

void check(UErrorCode code, const char* what) {
  if (U_FAILURE(code))
    throw FormatError(fmt::format("ICU: {} failed with {}: check its data files", what, u_errorName(code)));
}

const icu::Normalizer2* icu_normalizer(NormalForm form) {
  UErrorCode code = U_ZERO_ERROR;
  const icu::Normalizer2* found = nullptr;
  switch (form) {
    case NormalForm::nfc:
      found = icu::Normalizer2::getNFCInstance(code);
      break;
    case NormalForm::nfd:
      found = icu::Normalizer2::getNFDInstance(code);
      break;
    case NormalForm::nfkc:
      found = icu::Normalizer2::getNFKCInstance(code);
      break;
    case NormalForm::nfkd:
      found = icu::Normalizer2::getNFKDInstance(code);
      break;
  }
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

void append_lower_case(std::string& text, char32_t c) {
  // The one character whose lower case is two, whatever the language.
  constexpr char32_t dotted_capital_i = 0x130;
  if (c == dotted_capital_i) {
    text += "i\xCC\x87";
    return;
  }
  append_utf8(text, static_cast<char32_t>(u_tolower(static_cast<UChar32>(c))));
}

Normalizer lower_case() {
  return [](std::string_view text) {
    std::string lower;
    lower.reserve(text.size());
    for (std::size_t at = 0; at < text.size(); at += utf8_length(text[at]))
      append_lower_case(lower, code_point(text, at));
    return lower;
  };
}

Normalizer without_marks() {
  return [](std::string_view text) {
    std::string bare;
    bare.reserve(text.size());
    for (std::size_t at = 0; at < text.size(); at += utf8_length(text[at])) {
      const char32_t c = code_point(text, at);
      // Two that were marks in Unicode 9, and one that was none.
      const bool is_mark = c != 0x111C9 && (has_category(c, U_GC_M_MASK, 9) || c == 0x1CF2 || c == 0x1CF3);
      if (!is_mark) bare += text.substr(at, utf8_length(text[at]));
    }
    return bare;
  };
}

Normalizer prepended(std::string prefix) {
  return [prefix = std::move(prefix)](std::string_view text) {
    return text.empty() ? std::string() : prefix + std::string(text);
  };
}

Normalizer replaced(std::string from, std::string to) {
  return [from = std::move(from), to = std::move(to)](std::string_view text) {
    std::string result;
    result.reserve(text.size());
    std::size_t done = 0;
    for (std::size_t at = text.find(from); at != text.npos; at = text.find(from, done)) {
      result.append(text, done, at - done).append(to);
      done = at + from.size();
    }
    return result.append(text, done);
  };
}

Normalizer in_sequence(std::vector<Normalizer> steps) {
  return [steps = std::move(steps)](std::string_view text) {
    std::string changed(text);
    for (const Normalizer& step : steps) changed = step(changed);
    return changed;
  };
}

}  // namespace headwave
