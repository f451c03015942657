#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "added_tokens.h"
#include "tokenizer.h"
#include "vocabulary.h"

namespace headwave {

/// How Japanese BERT spells a word: in pieces, or character by character.
enum class JapaneseSpelling { none, pieces, characters };

/// What tokenizer_config.json and added_tokens.json beside a plain vocabulary say.
struct TokenizerSettings {
  bool lowercase = true;              ///< do_lower_case
  std::optional<bool> strip_accents;  ///< unset: as lowercase
  bool split_chinese = true;          ///< tokenize_chinese_chars
  bool add_prefix_space = false;
  JapaneseSpelling japanese = JapaneseSpelling::none;  ///< tokenizer_class BertJapaneseTokenizer
  bool separate_vocabularies = false;                  ///< separate_vocabs: Marian's target has ids of its own
  std::string tokenizer_class;                         ///< empty: not said
  std::map<std::string, std::string> names;            ///< of special tokens: "cls_token" is "[CLS]"
  std::vector<AddedToken> added;                       ///< of added_tokens_decoder and added_tokens.json
  std::vector<std::filesystem::path> files;            ///< the files that were read

  /// The name of a special token, or `usual` where the files do not name it.
  [[nodiscard]] std::string name_of(const std::string& key, const std::string& usual) const;
};

/// Reads tokenizer_config.json and added_tokens.json in the folder of a vocabulary; either may be absent.
/// @throws IoError if one cannot be read; FormatError if one is broken
TokenizerSettings settings_beside(const std::filesystem::path& vocabulary);

/// Reads a vocab.json: an object of ids by piece.
/// @throws IoError if it cannot be read; FormatError if it is no such JSON, or a piece or an id is given
///         twice
Vocabulary json_vocabulary(const std::filesystem::path& path);

/// Reads BERT's tokenizer from a vocab.txt: one piece a line, its id the line's number from 0. From a
/// tokenizer_config.json beside it come do_lower_case (true where absent), strip_accents (as do_lower_case),
/// tokenize_chinese_chars (true), the names of the special tokens and added_tokens_decoder; from an
/// added_tokens.json more added tokens. A piece on two lines has the id of the later one, as in BERT's own
/// reader.
///
/// @throws IoError if it cannot be read; FormatError if it is not UTF-8, has no unknown token, or the files
///         beside it are broken
std::unique_ptr<Tokenizer> word_piece_tokenizer(const std::filesystem::path& vocab_txt);

/// Reads the byte-level BPE of GPT-2 or RoBERTa from its two files: ids by piece as JSON, and one merge a
/// line after a line "#version". Where the vocabulary has `<s>` and `</s>` they open and close documents, as
/// in RoBERTa; else nothing does. From a tokenizer_config.json beside them comes add_prefix_space (false
/// where absent) and added_tokens_decoder; from an added_tokens.json more added tokens.
///
/// @throws IoError if they cannot be read; FormatError if they are broken, or pieces are not spelled in the
///         byte alphabet
std::unique_ptr<Tokenizer> byte_level_tokenizer(const std::filesystem::path& vocabulary,
                                                const std::filesystem::path& merges);

}  // namespace headwave
