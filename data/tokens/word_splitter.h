#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "regular_expression.h"

namespace headwave {

/// Respells bytes in GPT-2's byte alphabet, which has one visible character for each byte, so that a
/// vocabulary of text can hold any bytes. Printable bytes of Latin-1 stay themselves; the other 68 become
/// U+0100 and so on, in order. A blank is U+0120.
///
/// Source: Radford et al. 2019, the released encoder.
std::string spelled_in_byte_alphabet(std::string_view bytes);

/// The bytes that a piece spells, made readable: well-formed UTF-8 stays as it is, and any other byte is
/// written as "<0xE3>". A piece with a character outside the byte alphabet stays unchanged.
std::string readable_spelling(std::string_view piece);

/// A part of a normalised text that is turned into tokens separately.
struct Word {
  std::string text;
  bool begins_text = false;  ///< the word is the beginning of the whole text
};

/// Splits a normalised text into words, to be tokenized one by one. Several threads may call it at once.
using WordSplitter = std::function<std::vector<Word>(const Word&)>;

/// What becomes of the matches at which a text is cut.
enum class MatchBecomes {
  nothing,            ///< removed
  word,               ///< a word of its own
  end_of_word,        ///< the end of the word before; only the first of adjacent matches
  beginning_of_word,  ///< the beginning of the word after; only the last of adjacent matches
  word_of_all         ///< adjacent matches together are one word
};

/// Cuts a text at matches.
/// @param inverted  cut at the text between matches instead
WordSplitter cut_at(TextFinder matches, MatchBecomes become, bool inverted = false);

/// Separates number characters (Unicode categories Nd, Nl and No) from the text between them.
/// @param each  make every number character a word of its own; false: join adjacent number characters
WordSplitter cut_at_numbers(bool each);

/// Splits a text into runs of word characters, and runs of characters that are neither word characters nor
/// white space: `\w+|[^\w\s]+`.
WordSplitter word_runs();

/// Cuts a text at white space.
WordSplitter white_space_words();

/// Cuts a text at punctuation: ASCII characters that are not letters, digits, blanks or controls, and
/// Unicode's P categories as of Unicode 8.
WordSplitter cut_at_punctuation(MatchBecomes become);

/// BERT's words: splits at white space, and makes every punctuation mark a word.
WordSplitter bert_words();

/// Applies splitters one after another. Each splits the words of the splitter before it.
WordSplitter in_sequence(std::vector<WordSplitter> splitters);

struct ByteLevelOptions {
  bool add_prefix_space = false;  ///< put a blank before a text that does not begin with one
  bool split_words = true;        ///< false: respell the bytes without cutting
};

/// GPT-2's words, respelled in the byte alphabet. A blank belongs to the word after it.
///
///     's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+                          (1)
///
/// Source: Radford et al. 2019, the released encoder.
WordSplitter byte_level_words(const ByteLevelOptions& options);

/// When to put a mark before a text, so that its first word looks like a word after a blank. first: only at
/// the beginning of the whole text.
enum class PrependScheme { always, first, never };

struct MetaspaceOptions {
  std::string mark = "\u2581";                    ///< stands for a blank
  PrependScheme prepend = PrependScheme::always;  ///< when to put a mark before a text
  bool split = true;                              ///< false: do not cut
};

/// SentencePiece's words: blanks become marks, and each mark begins a word. A text that begins with a mark
/// gets no other.
///
/// Source: Kudo and Richardson 2018, section 3.2.
WordSplitter metaspace_words(const MetaspaceOptions& options);

}  // namespace headwave
