#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "regular_expression.h"

namespace headwave {

/// A change made to a text before it is split into words. It maps well-formed UTF-8 to well-formed UTF-8.
/// Several threads may call it at once.
using Normalizer = std::function<std::string(std::string_view)>;

enum class NormalForm { nfc, nfd, nfkc, nfkd };

/// Composes or decomposes accented letters, Hangul and compatibility characters (Unicode Standard Annex 15).
/// Characters newer than Unicode 9 stay unchanged, because the tables of Hugging Face's `tokenizers` end
/// there.
Normalizer normal_form(NormalForm form);

/// Converts to lower case, character by character, without rules of context or language. For example, a
/// capital sigma at the end of a word becomes an ordinary small sigma.
Normalizer lower_case();

/// Removes combining marks. Precomposed letters keep their accents; decompose them first.
Normalizer without_marks();

/// Puts a prefix before a text unless the text is empty.
Normalizer prepended(std::string prefix);

/// Replaces every match by `to`.
Normalizer replaced(TextFinder matches, std::string to);

/// Removes white space at the beginning of a text, at its end, or at both.
Normalizer stripped(bool at_begin, bool at_end);

/// Options of BERT's normalizer.
struct BertTextOptions {
  bool clean_text = true;             ///< remove NUL, U+FFFD and control characters, turn white space into blanks
  bool handle_chinese_chars = true;   ///< put blanks around CJK ideographs, so that each is a word
  std::optional<bool> strip_accents;  ///< decompose, then remove non-spacing marks; unset: if `lowercase` is true
  bool lowercase = true;
};

/// BERT's normalizer: cleans, sets CJK ideographs apart, strips accents and lower-cases, in this order.
/// Controls and marks are those of Unicode 8, whose tables Hugging Face's `tokenizers` uses.
///
/// Source: Devlin et al. 2019, the released BasicTokenizer.
Normalizer bert_normalizer(const BertTextOptions& options);

/// Applies normalizers one after another.
Normalizer in_sequence(std::vector<Normalizer> steps);

/// Replaces graphemes by SentencePiece's table, as Hugging Face's `tokenizers` does. If a grapheme has fewer
/// than 6 bytes and begins with an entry of the table, the replacement of the shortest such entry replaces
/// the whole grapheme. Other graphemes are replaced character by character.
/// @param base64  the table
/// @throws FormatError if the table is not base64, or is damaged
Normalizer precompiled_normalizer(std::string_view base64, const std::string& place);

}  // namespace headwave
