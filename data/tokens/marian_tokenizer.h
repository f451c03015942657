#pragma once

#include <filesystem>
#include <memory>

#include "tokenizer.h"

namespace headwave {

/// One side of Marian's tokenizer, as OPUS-MT's models have it: pieces of a SentencePiece model, source.spm or target.spm, whose ids
/// stand in vocab.json, and </s> behind every text. A language code ">>fr<<" that a text begins with is a token of its own. What
/// vocab.json does not name is its <unk>, also where SentencePiece knows it.
///
/// Source: Junczys-Dowmunt et al. 2018; Kudo and Richardson 2018.
/// @param model       source.spm or target.spm
/// @param vocabulary  vocab.json
/// @throws IoError if a file cannot be read; FormatError if one is broken, the vocabulary has no <unk> or </s>, or there are two
/// vocabularies (`separate_vocabs`)
std::unique_ptr<Tokenizer> marian_tokenizer(const std::filesystem::path& model,
                                            const std::filesystem::path& vocabulary);

}  // namespace headwave
