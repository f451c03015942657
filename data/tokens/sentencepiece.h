#pragma once

#include <filesystem>
#include <memory>

#include "tokenizer.h"

namespace headwave {

/// The tokenizer of a SentencePiece model, Unigram or BPE: the ids that SentencePiece itself gives. Control tokens are not
/// looked for in the text, unless `added_tokens_decoder` of a tokenizer_config.json beside it names them.
///
/// Documents are opened and closed by [CLS] and [SEP] where the model has them; else by <s>, or without one closed by </s>.
/// Where the `tokenizer_class` beside it is known to prepare texts otherwise, or to number pieces otherwise (XLM-R, CamemBERT,
/// mBART, ALBERT, XLNet), the model is refused by that name: tokenizer.json says how.
///
/// Source: Kudo and Richardson 2018.
/// @throws IoError if it cannot be read; FormatError if it is broken or refused
std::unique_ptr<Tokenizer> sentencepiece_tokenizer(const std::filesystem::path& path);

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
