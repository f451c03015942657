#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "normalizer.h"
#include "token_model.h"
#include "tokenizer.h"
#include "word_splitter.h"

namespace headwave {

/// A token that is found in a text by its name before the text is cut into words: [MASK], <s>.
struct AddedToken {
  std::string content;  ///< at most 1024 bytes
  std::int64_t id = 0;
  bool special = false;      ///< not text
  bool single_word = false;  ///< found only where no word character is beside it
  bool lstrip = false;       ///< includes the white space before it
  bool rstrip = false;       ///< includes the white space after it
  bool normalized = false;   ///< found in the normalised text by its normalised name; false: in the text as it is
};

/// A part of a text: an added token, or what lies between added tokens.
struct TextSegment {
  std::string_view text;
  std::int32_t id = -1;  ///< -1: not an added token
};

/// Finds added tokens in a text: the leftmost first, and of those that begin at one place the longest.
class AddedTokenFinder {
 public:
  /// @param tokens      of two whose normalised names are equal the first counts
  /// @param normalizer  applied to their names; may be empty
  /// @param file        what messages call the file
  /// @throws FormatError if a normalised name is empty or longer than 1024 bytes
  AddedTokenFinder(std::vector<AddedToken> tokens, const Normalizer& normalizer, const std::string& file);

  /// The parts of a text in order, without empty ones.
  [[nodiscard]] std::vector<TextSegment> segments(std::string_view text) const;

 private:
  // Copies look into the same names.
  std::shared_ptr<const std::vector<std::string>> names_;  // normalised
  std::vector<AddedToken> tokens_;
  PiecePrefixes prefixes_;
};

/// The parts of a tokenizer, in the order in which a text passes through them.
struct TokenPipeline {
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

}  // namespace headwave
