#include <cstddef>
#include <memory>

#define PCRE2_CODE_UNIT_WIDTH 8
#include <fmt/format.h>
#include <pcre2.h>

#include "../../core/numbers/error.h"
#include "byte_alphabet.h"
#include "word_splitter.h"

namespace headwave {

namespace {

// Equation (1). White space is written out: PCRE2's \s has U+180E, which Unicode's White_Space has not.
#define HEADWAVE_SPACES R"(\t-\r \x{85}\x{A0}\x{1680}\x{2000}-\x{200A}\x{2028}\x{2029}\x{202F}\x{205F}\x{3000})"
constexpr const char* words_of_gpt2 =
    "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^" HEADWAVE_SPACES "\\p{L}\\p{N}]+|[" HEADWAVE_SPACES
    "]+(?![^" HEADWAVE_SPACES "])|[" HEADWAVE_SPACES "]+";
#undef HEADWAVE_SPACES

std::string message_of(int code) {
  PCRE2_UCHAR8 text[256] = {};
  pcre2_get_error_message_8(code, text, sizeof text);
  return reinterpret_cast<const char*>(text);
}

std::shared_ptr<const pcre2_code_8> compiled_words() {
  int code = 0;
  std::size_t at = 0;
  pcre2_code_8* compiled = pcre2_compile_8(reinterpret_cast<PCRE2_SPTR8>(words_of_gpt2), PCRE2_ZERO_TERMINATED,
                                           PCRE2_UTF | PCRE2_UCP, &code, &at, nullptr);
  if (compiled == nullptr)
    throw FormatError(
        fmt::format("PCRE2: the words of byte-level BPE did not compile ({} at {}): it must be built with "
                    "Unicode",
                    message_of(code), at));
  pcre2_jit_compile_8(compiled, PCRE2_JIT_COMPLETE);  // where there is no compiler for the machine, it is interpreted
  return {compiled, [](const pcre2_code_8* owned) { pcre2_code_free_8(const_cast<pcre2_code_8*>(owned)); }};
}

// The matches one after another, which leave nothing out: every character is in one alternative.
std::vector<std::string> cut_into_words(const pcre2_code_8& pattern, std::string_view text) {
  const std::unique_ptr<pcre2_match_data_8, decltype(&pcre2_match_data_free_8)> match(
      pcre2_match_data_create_8(1, nullptr), &pcre2_match_data_free_8);
  if (match == nullptr) throw std::bad_alloc();
  const std::size_t* ends = pcre2_get_ovector_pointer_8(match.get());
  std::vector<std::string> words;
  for (std::size_t at = 0; at < text.size(); at = ends[1]) {
    // The text is known to be well-formed; checking it at every call would take quadratic time.
    const int code = pcre2_match_8(&pattern, reinterpret_cast<PCRE2_SPTR8>(text.data()), text.size(), at,
                                   PCRE2_NO_UTF_CHECK | PCRE2_ANCHORED, match.get(), nullptr);
    if (code < 0 || ends[1] <= at)
      throw FormatError(fmt::format("PCRE2: no word at byte {} of {}: {}", at, text.size(), message_of(code)));
    words.push_back(spelled_in_byte_alphabet(text.substr(at, ends[1] - at)));
  }
  return words;
}

}  // namespace

WordSplitter byte_level_words(const ByteLevelOptions& options) {
  return [options, pattern = compiled_words()](std::string_view text) {
    std::string with_blank;
    if (options.add_prefix_space && !text.starts_with(' ')) text = with_blank.append(" ").append(text);
    if (options.split_words) return cut_into_words(*pattern, text);
    return std::vector<std::string>{spelled_in_byte_alphabet(text)};
  };
}

}  // namespace headwave
