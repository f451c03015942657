#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "regular_expression.h"

namespace headwave {

/// Spells bytes in the byte alphabet, one visible character each, so that a vocabulary of text can hold any
/// bytes: printable bytes of Latin-1 are themselves, the other 68, in order, are U+0100 and so on. A blank is
/// U+0120.
///
/// Source: Radford et al. 2019, the released encoder.
std::string spelled_in_byte_alphabet(std::string_view bytes);

/// The bytes that a piece spells as a person can read them: well-formed UTF-8 as it is, any other byte as "<0xE3>". A
/// piece with a character that is not in the alphabet is unchanged.
std::string readable_spelling(std::string_view piece);

/// A part of a normalised text that the vocabulary spells by itself.
struct Word {
  std::string text;
  bool begins_text = false;  ///< it stands at the beginning of the whole text
};

/// How a normalised text is cut into the words that the vocabulary spells one by one. May be called from
/// several threads at once.
using WordSplitter = std::function<std::vector<Word>(const Word&)>;

/// What happens to the matches at which a text is cut.
enum class MatchBecomes {
  nothing,            ///< removed
  word,               ///< a word by itself
  end_of_word,        ///< the end of the word before; of adjacent matches only the first
  beginning_of_word,  ///< the beginning of the word after; of adjacent matches only the last
  word_of_all         ///< adjacent matches are one word
};

/// Cuts a text at matches.
/// @param inverted  cut at what lies between matches instead
WordSplitter cut_at(TextFinder matches, MatchBecomes become, bool inverted = false);

/// Makes words of a text's number characters (Unicode categories Nd, Nl and No) and of the text between them.
/// @param each  every number character is a word of its own; false: those in a row form one word
WordSplitter cut_at_numbers(bool each);

/// Cuts a text into runs of word characters, and runs of what is neither word character nor white space:
/// `\w+|[^\w\s]+`.
WordSplitter word_runs();

/// Cuts a text at white space.
WordSplitter white_space_words();

/// Cuts a text at punctuation: every ASCII character that is no letter, digit, blank or control, and
/// Unicode's P categories as of Unicode 8.
WordSplitter cut_at_punctuation(MatchBecomes become);

/// BERT's words: what white space separates, every punctuation mark a word.
WordSplitter bert_words();

/// Applies splitters one after another: each cuts the words of the one before.
WordSplitter in_sequence(std::vector<WordSplitter> splitters);

struct ByteLevelOptions {
  bool add_prefix_space = false;  ///< a blank before a text that does not begin with one
  bool split_words = true;        ///< false: bytes are respelled, and nothing is cut
};

/// GPT-2's words, respelled byte by byte in the byte alphabet: a blank belongs to the word after it.
///
///     's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+                          (1)
///
/// Source: Radford et al. 2019, the released encoder.
WordSplitter byte_level_words(const ByteLevelOptions& options);

/// When a mark is put before a text, so that its first word is like those after a blank.
enum class PrependScheme { always, first, never };

struct MetaspaceOptions {
  std::string mark = "\u2581";                    ///< what stands for a blank
  PrependScheme prepend = PrependScheme::always;  ///< first: only at the beginning of the whole text
  bool split = true;                              ///< false: nothing is cut
};

/// SentencePiece's words: blanks become marks, and each mark begins a word. A text that begins with a mark
/// gets no second one.
///
/// Source: Kudo and Richardson 2018, section 3.2.
WordSplitter metaspace_words(const MetaspaceOptions& options);

}  // namespace headwave
