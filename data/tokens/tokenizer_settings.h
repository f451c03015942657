#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "added_tokens.h"

namespace headwave {

/// How Japanese BERT spells a word that somebody else has found: in pieces, or character by character.
enum class JapaneseSpelling { none, pieces, characters };

/// What the files beside a plain vocabulary say of how it is used.
struct TokenizerSettings {
  bool lowercase = true;              ///< do_lower_case
  std::optional<bool> strip_accents;  ///< unset: as lowercase
  bool split_chinese = true;          ///< tokenize_chinese_chars
  bool add_prefix_space = false;
  JapaneseSpelling japanese = JapaneseSpelling::none;  ///< tokenizer_class BertJapaneseTokenizer
  bool separate_vocabularies = false;                  ///< separate_vocabs: Marian's target has ids of its own
  std::string tokenizer_class;                         ///< empty where the files do not say
  std::map<std::string, std::string> names;            ///< of special tokens: "cls_token" is "[CLS]"
  std::vector<AddedToken> added;                       ///< added_tokens_decoder, and what added_tokens.json has besides
  std::vector<std::filesystem::path> files;            ///< those that were there

  /// The name of a special token, or `usual` where the files do not name it.
  [[nodiscard]] std::string name_of(const std::string& key, const std::string& usual) const;
};

/// Reads tokenizer_config.json and added_tokens.json in the folder of a vocabulary; either may be absent.
/// @throws IoError if one cannot be read; FormatError if one is broken
TokenizerSettings settings_beside(const std::filesystem::path& vocabulary);

}  // namespace headwave
