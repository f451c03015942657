#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "regular_expression.h"

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

/// The text with every match replaced by `to`.
/// @throws FormatError when used, if the text becomes more than 64 times as long, and 64 KiB
Normalizer replaced(TextFinder matches, std::string to);

/// The text without the white space that begins and ends it.
Normalizer stripped(bool at_begin, bool at_end);

/// What neural machine translation does with control characters: some are dropped, others become blanks.
///
/// Source: the rule nmt_nfkc of SentencePiece, as in Hugging Face's `tokenizers`.
Normalizer without_controls();

/// One after another.
/// @throws FormatError when used, as replaced()
Normalizer in_sequence(std::vector<Normalizer> steps);

/// Puts the lower case of one character at the end of a text.
void append_lower_case(std::string& text, char32_t c);

}  // namespace headwave
