#pragma once

#include <cstddef>
#include <cstdint>
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

/// A token that a text begins with.
struct LeadingToken {
  std::size_t length = 0;  ///< bytes of the text; 0: the text begins with none
  std::int32_t id = -1;
};

/// The parts of a tokenizer, in the order in which a text passes through them.
struct TokenPipeline {
  std::function<LeadingToken(std::string_view)> leading;  ///< removed before anything else; empty: none
  std::vector<AddedToken> added;                          ///< found by name, before or after normalisation
  Normalizer normalizer;                                  ///< empty: the text as it is
  WordSplitter splitter;                                  ///< empty: all of it is one word
  std::unique_ptr<TokenModel> model;                      ///< spells the words
  std::function<std::string(std::string_view)> readable;  ///< a piece as people should see it; empty: as it is
  SpecialTokens special;
  std::string kind;
  std::vector<std::filesystem::path> files;
};

/// Makes a tokenizer of its parts.
/// @param pipeline  with a model
/// @param file      what messages call the file
/// @throws FormatError if an added token has the id of another token, or not the id that it has in the
///         vocabulary
std::unique_ptr<Tokenizer> tokenizer_of(TokenPipeline pipeline, const std::string& file);

/// Finds special tokens by the names that BERT and RoBERTa give them.
SpecialTokens specials_by_name(const Vocabulary& vocabulary);

}  // namespace headwave
