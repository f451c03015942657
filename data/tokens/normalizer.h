#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace headwave {

/// A change made to a whole text before it is cut into words: well-formed UTF-8 in, well-formed UTF-8 out. May be
/// called from several threads at once.
using Normalizer = std::function<std::string(std::string_view)>;

enum class NormalForm { nfc, nfd, nfkc, nfkd };

/// Composition and decomposition of accented letters, Hangul and compatibility characters.
///
/// Characters newer than Unicode 9 are left as they are, because the tables of Hugging Face's `tokenizers` end there.
///
/// Source: Unicode Standard Annex 15.
Normalizer normal_form(NormalForm form);

/// Every character by itself in lower case; no rules of context or language (a final sigma stays a sigma).
Normalizer lower_case();

/// The text without combining marks. Precomposed letters keep their accents: decompose first.
Normalizer without_marks();

/// The text with `prefix` before it, unless it is empty.
Normalizer prepended(std::string prefix);

/// The text with every `from` replaced by `to`, left to right.
/// @param from  not empty
Normalizer replaced(std::string from, std::string to);

/// One after another.
Normalizer in_sequence(std::vector<Normalizer> steps);

/// Puts the lower case of one character at the end of a text.
void append_lower_case(std::string& text, char32_t c);

}  // namespace headwave
