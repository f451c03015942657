#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

#include "token_pipeline.h"
#include "tokenizer_settings.h"

namespace headwave {

/// Ids that another file than the SentencePiece model gives to its pieces.
struct PieceNumbers {
  Vocabulary vocabulary;
  std::int32_t unknown = 0;  ///< of what it does not name
};

/// The steps of a SentencePiece model, all but which tokens open and close a document.
/// @param settings  of what stands beside it
/// @throws IoError if it cannot be read; FormatError if it is broken, or a BPE with other numbers
TokenPipeline sentencepiece_pipeline(const std::filesystem::path& path, const TokenizerSettings& settings,
                                     std::optional<PieceNumbers> numbers = {});

}  // namespace headwave
