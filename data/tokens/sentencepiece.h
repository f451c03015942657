#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "token_model.h"

namespace headwave {

/// What a piece of a SentencePiece model is; the numbers are those of the file.
enum class SentencePieceKind : std::uint8_t { normal = 1, unknown, control, user_defined, unused, byte };

struct SentencePieceEntry {
  std::string piece;
  float score = 0;
  SentencePieceKind kind = SentencePieceKind::normal;
};

/// The content of a SentencePiece model's file, with the format's defaults.
struct SentencePieceFile {
  enum class Model : std::uint8_t { unigram = 1, bpe };
  std::vector<SentencePieceEntry> pieces;  ///< by id
  Model model = Model::unigram;
  bool byte_fallback = false;
  bool whitespace_as_suffix = false;
  std::string charsmap;  ///< bytes for PrecompiledCharsmap; empty: none
  bool add_dummy_prefix = true;
  bool remove_extra_whitespaces = true;
  bool escape_whitespaces = true;
};

/// Spells words as SentencePiece's BPE does: of all neighbours that are a piece together those with the largest
/// score are joined.
///
/// Source: Kudo and Richardson 2018.
/// @param file  what messages call the file
/// @throws FormatError if a piece occurs twice or is unused, a score is NaN, or no piece is the unknown one
std::unique_ptr<TokenModel> sentencepiece_pairs(const SentencePieceFile& model, const std::string& file);

}  // namespace headwave
