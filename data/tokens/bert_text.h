#pragma once

#include <optional>
#include <string_view>

#include "normalizer.h"
#include "word_splitter.h"

namespace headwave {

/// What BERT does to a text before its vocabulary sees it.
struct BertTextOptions {
  bool clean_text = true;             ///< drop NUL, U+FFFD and control characters; make every white space a blank
  bool handle_chinese_chars = true;   ///< blanks around CJK ideographs, so that each is a word
  std::optional<bool> strip_accents;  ///< decompose, then drop non-spacing marks; unset: as lowercase
  bool lowercase = true;
};

/// BERT's normaliser: clean, set CJK apart, strip accents, lower case, in that order.
///
/// Which characters are controls and marks is as of Unicode 8, where the tables of Hugging Face's `tokenizers` end.
///
/// Source: Devlin et al. 2019, the released BasicTokenizer.
Normalizer bert_normalizer(const BertTextOptions& options);

/// A text cut at its punctuation: every ASCII character that is no letter, digit, blank or control, and Unicode's P
/// categories as of Unicode 8.
WordSplitter cut_at_punctuation(MatchBecomes become);

/// BERT's words: what white space separates, every punctuation mark by itself.
WordSplitter bert_words();

/// Words as they were given: what white space separates. Also for Japanese BERT, whose words a morphological analyser finds.
WordSplitter given_words();

/// Every character that is no white space by itself.
WordSplitter single_characters();

}  // namespace headwave
