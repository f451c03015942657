#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>

#include "../files/json_file.h"
#include "token_model.h"
#include "token_pipeline.h"
#include "tokenizer.h"

namespace headwave {

/// Reads the tokenizer that a tokenizer.json describes. Known are
///
///   model           WordPiece, BPE (without dropout), WordLevel, Unigram; where the type is absent, as in old files, BPE
///                   is known by its merges, WordPiece by max_input_chars_per_word and Unigram by unk_id
///   normalizer      BertNormalizer, NFC, NFD, NFKC, NFKD, Lowercase, StripAccents, Strip, Prepend, Replace, Nmt, ByteLevel,
///                   Precompiled, Sequence
///   pre_tokenizer   BertPreTokenizer, ByteLevel, Whitespace, WhitespaceSplit, Punctuation, Digits, Metaspace,
///                   CharDelimiterSplit, Split, Sequence
///   post_processor  TemplateProcessing, BertProcessing, RobertaProcessing, ByteLevel, Sequence: which tokens open and
///                   close a document, one of each at most; not read of a tokenizer that only names ids
///   decoder         ByteLevel, WordPiece, Replace, Metaspace, BPEDecoder, ByteFallback, Fuse, Strip, Sequence: how pieces
///                   are shown
///
/// Truncation and padding are not read: documents are cut and packed elsewhere.
///
/// @throws IoError if the file cannot be read; FormatError if it is broken, or asks for anything else by type
std::unique_ptr<Tokenizer> json_tokenizer(const std::filesystem::path& path, TokenizerUse use = TokenizerUse::text);

/// An added token as tokenizer.json and tokenizer_config.json describe it.
AddedToken json_added_token(const JsonObject& object, std::int64_t id);

/// Reads BERT's tokenizer from a vocab.txt: one piece a line, its id the line's number from 0. From a
/// tokenizer_config.json beside it come do_lower_case (true where absent), strip_accents (as do_lower_case),
/// tokenize_chinese_chars (true), the names of the special tokens and added_tokens_decoder; from an
/// added_tokens.json more added tokens. A piece on two lines has the id of the later one, as in BERT's own
/// reader. Where tokenizer_config.json says EsmTokenizer every piece is found in the text as it is: letters of
/// proteins.
///
/// @throws IoError if it cannot be read; FormatError if it is not UTF-8, has no unknown token, or the files
///         beside it are broken
std::unique_ptr<Tokenizer> word_piece_tokenizer(const std::filesystem::path& vocab_txt);

}  // namespace headwave
