#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "../../core/model/random_words.h"
#include "../../data/tokens/tokenizer.h"

namespace headwave {

/// Ids that stand for text: ids of tokens that are not special. Without a tokenizer, all ids.
/// @param rows  number of words of the model
std::vector<std::int32_t> text_words(Index rows, const Tokenizer* tokenizer);

/// How often words are drawn, by name:
///
///     zipf      p ~ 1 / rank, rank by id from the first piece of more than one character: an alphabet (characters, bytes)
///               with which a vocabulary begins stands in its own order and is left out, as are ids that were kept free
///               ([unused7]); with no longer piece, or no tokenizer, from the first id
///     uniform   every word of text alike
///     FILE      as often as its tokens stand in that text, of which the first 16 MiB are read
///
/// @param words      one of these; a file of such a name as ./zipf
/// @param tokenizer  null: none is known
/// @throws IoError, FormatError if there is no such file, it is no text, there is no tokenizer to count with, or the
///         model knows none of its tokens; FormatError if the vocabulary has no words of text
WordChances word_chances(const std::string& words, Index rows, const Tokenizer* tokenizer);

}  // namespace headwave
