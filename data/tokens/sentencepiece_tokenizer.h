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

}  // namespace headwave
