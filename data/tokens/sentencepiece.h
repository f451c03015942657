#pragma once

#include <filesystem>
#include <memory>

#include "tokenizer.h"

namespace headwave {

/// Opens the tokenizer of a SentencePiece model, Unigram or BPE, with the ids that SentencePiece itself
/// gives. Control tokens are not found in a text, unless `added_tokens_decoder` of a tokenizer_config.json
/// beside the model names them.
///
/// Documents are opened and closed by [CLS] and [SEP] where the model has them; else opened by <s>, or,
/// without one, closed by </s>. If the `tokenizer_class` beside the model is known to change texts or ids
/// (XLM-R, CamemBERT, mBART, ALBERT, XLNet), the model is refused by that name: tokenizer.json says how.
///
/// Debian's libsentencepiece is not used: 0.1.97 crashes on damaged models (one of 600 with a few changed
/// bytes), and tokenizer.json needs the same two spellings.
///
/// Source: Kudo and Richardson 2018.
/// @throws IoError if the model cannot be read; FormatError if it is broken or refused
std::unique_ptr<Tokenizer> sentencepiece_tokenizer(const std::filesystem::path& path);

/// Opens one side of Marian's tokenizer, as of OPUS-MT's models: the pieces of a SentencePiece model,
/// source.spm or target.spm, have the ids of vocab.json, and </s> is after every text. A language code
/// ">>fr<<" at the beginning of a text is a token. A piece that is missing in vocab.json is its <unk>.
///
/// Source: Junczys-Dowmunt et al. 2018; Kudo and Richardson 2018.
/// @param model       source.spm or target.spm
/// @param vocabulary  vocab.json
/// @throws IoError if a file cannot be read; FormatError if one is broken, the vocabulary has no <unk> or
///         </s>, or there are two vocabularies (`separate_vocabs`)
std::unique_ptr<Tokenizer> marian_tokenizer(const std::filesystem::path& model,
                                            const std::filesystem::path& vocabulary);

}  // namespace headwave
