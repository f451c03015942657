#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace headwave {

/// What a piece of a SentencePiece model is; the numbers are those of the file.
enum class SentencePieceKind : std::uint8_t { normal = 1, unknown, control, user_defined, unused, byte };

struct SentencePieceEntry {
  std::string piece;
  float score = 0;
  SentencePieceKind kind = SentencePieceKind::normal;
};

/// A SentencePiece model as it stands in its file, with the file format's defaults.
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

/// Reads a SentencePiece model: a protocol buffer of pieces, the trainer's and the normalizer's settings.
///
/// Source: the message ModelProto of SentencePiece.
/// @throws IoError if it cannot be read; FormatError if it is larger than 64 MiB, broken, or neither Unigram nor BPE
SentencePieceFile sentencepiece_file(const std::filesystem::path& path);

}  // namespace headwave
