#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "token_model.h"

namespace headwave {

/// The kind of a piece in a Unigram vocabulary.
enum class UnigramPiece : std::uint8_t {
  normal,
  user_defined,  ///< taken wherever its text is
  never_found    ///< never taken, its text is spelled by other pieces: control tokens, bytes, unused pieces
};

struct UnigramOptions {
  std::vector<double> scores;  ///< log probability of each id
  std::int32_t unknown = -1;   ///< the token for a character that no piece spells
  bool byte_fallback = false;  ///< such characters become their bytes' tokens "<0xE3>", if all exist
  /// Of each id. Empty: all are normal, and as in Hugging Face's `tokenizers` sums are in double precision,
  /// and adjacent unknown characters are looked up together as a piece. Else, as in SentencePiece, sums are
  /// in single precision, and unknown characters are not looked up.
  std::vector<UnigramPiece> kinds;
  /// The id of a piece, or of text that no piece spells, where another file numbers them; empty: the
  /// vocabulary's.
  std::function<std::int32_t(std::string_view text)> number = {};
};

/// Spells words in the pieces with the largest sum of scores; of equal sums the one whose last piece is
/// longest.
///
///     best(end) = max over pieces that end there of best(end - length) + score                            (1)
///
/// An unknown character scores 10 less than the least likely piece; adjacent ones are one token. O(n) in the
/// length of a word times the longest piece.
///
/// Source: Kudo 2018, section 3.1.
/// @param file  what messages call the file
/// @throws FormatError if an id has no score, a score is not finite, a piece has more than 1024 bytes, or
///         there is no unknown token
std::unique_ptr<TokenModel> unigram(Vocabulary vocabulary, UnigramOptions options, const std::string& file);

}  // namespace headwave
