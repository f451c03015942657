#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "regular_expression.h"

namespace headwave {

/// A change made to a whole text before it is cut into words: well-formed UTF-8 in, well-formed UTF-8 out.
/// May be called from several threads at once.
using Normalizer = std::function<std::string(std::string_view)>;

enum class NormalForm { nfc, nfd, nfkc, nfkd };

/// Composes or decomposes accented letters, Hangul and compatibility characters.
///
/// Characters newer than Unicode 9 are left as they are, because the tables of Hugging Face's `tokenizers`
/// end there.
///
/// Source: Unicode Standard Annex 15.
Normalizer normal_form(NormalForm form);

/// Lower case, character by character: no rules of context or language (a final sigma stays a sigma).
Normalizer lower_case();

/// Removes combining marks. Precomposed letters keep their accents: decompose first.
Normalizer without_marks();

/// Puts a prefix before a text that is not empty.
Normalizer prepended(std::string prefix);

/// Replaces every match.
Normalizer replaced(TextFinder matches, std::string to);

/// Removes white space at the beginning or the end of a text.
Normalizer stripped(bool at_begin, bool at_end);

/// BERT's normalisation of a text.
struct BertTextOptions {
  bool clean_text = true;             ///< remove NUL, U+FFFD and control characters, make every white space a blank
  bool handle_chinese_chars = true;   ///< blanks around CJK ideographs, so that each is a word
  std::optional<bool> strip_accents;  ///< decompose, then remove non-spacing marks; unset: as lowercase
  bool lowercase = true;
};

/// BERT's normalizer: clean, set CJK ideographs apart, strip accents, lower case, in that order.
///
/// Which characters are controls and marks is as of Unicode 8, where the tables of Hugging Face's
/// `tokenizers` end.
///
/// Source: Devlin et al. 2019, the released BasicTokenizer.
Normalizer bert_normalizer(const BertTextOptions& options);

/// Applies normalizers one after another.
Normalizer in_sequence(std::vector<Normalizer> steps);

/// Replaces graphemes as Hugging Face's `tokenizers` does: a grapheme of less than 6 bytes becomes what its
/// shortest key becomes. Where it has no key, and in longer graphemes, this is done character by character.
/// @param base64  the table
/// @throws FormatError if it is not base64, or damaged
Normalizer precompiled_normalizer(std::string_view base64, const std::string& place);

}  // namespace headwave
