#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "added_tokens.h"
#include "normalizer.h"
#include "token_model.h"
#include "tokenizer.h"
#include "word_splitter.h"

namespace headwave {

/// What a tokenizer is made of, in the order a text passes through it.
struct TokenPipeline {
  std::vector<AddedToken> added;                          ///< found by name, before or after normalisation
  Normalizer normalizer;                                  ///< empty: the text as it is
  WordSplitter splitter;                                  ///< empty: all of it is one word
  std::unique_ptr<TokenModel> model;                      ///< spells the words
  std::function<std::string(std::string_view)> readable;  ///< a piece as a person should see it; empty: as it is
  SpecialTokens special;
  std::string kind;
  std::vector<std::filesystem::path> files;
};

/// The tokenizer that these parts make.
/// @param pipeline  with a model
/// @param file      what messages call the file
/// @throws FormatError if an added token has another token's id, or another id than the vocabulary gives it
std::unique_ptr<Tokenizer> tokenizer_of(TokenPipeline pipeline, const std::string& file);

/// Special tokens by the names that BERT and RoBERTa give them, where the vocabulary has them.
SpecialTokens specials_by_name(const Vocabulary& vocabulary);

}  // namespace headwave
