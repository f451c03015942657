#pragma once

#include <filesystem>
#include <memory>

#include "tokenizer.h"

namespace headwave {

/// Reads the tokenizer that a tokenizer.json describes. Known are
///
///   model           WordPiece, BPE (without dropout), WordLevel, Unigram; where the type is absent, as in old files, BPE
///                   is known by its merges, WordPiece by max_input_chars_per_word and Unigram by unk_id
///   normalizer      BertNormalizer, NFC, NFD, NFKC, NFKD, Lowercase, StripAccents, Strip, Prepend, Replace, ByteLevel,
///                   Precompiled, Sequence
///   pre_tokenizer   BertPreTokenizer, ByteLevel, Whitespace, WhitespaceSplit, Punctuation, Digits, Metaspace,
///                   Split, Sequence
///   post_processor  TemplateProcessing, BertProcessing, RobertaProcessing, ByteLevel, Sequence: which tokens open and
///                   close a document, one of each at most; not read of a tokenizer that only names ids
///   decoder         ByteLevel, WordPiece, Replace, Metaspace, BPEDecoder, ByteFallback, Fuse, Strip, Sequence: how pieces
///                   are shown
///
/// Truncation and padding are not read: documents are cut and packed elsewhere.
///
/// @throws IoError if the file cannot be read; FormatError if it is broken, or asks for anything else by type
std::unique_ptr<Tokenizer> json_tokenizer(const std::filesystem::path& path, TokenizerUse use = TokenizerUse::text);

/// Reads BERT's tokenizer from a vocab.txt, one piece a line, as the tokenizer.json that transformers would make of it
/// and the tokenizer_config.json beside it: do_lower_case, strip_accents, tokenize_chinese_chars, the names of the
/// special tokens. A piece on two lines has the id of the later one. Where tokenizer_config.json says EsmTokenizer
/// every piece is found in the text as it is: letters of proteins.
/// @throws IoError if it cannot be read; FormatError if it is not UTF-8, has no unknown token, or an added token is not
///         in it
std::unique_ptr<Tokenizer> word_piece_tokenizer(const std::filesystem::path& vocab_txt);

}  // namespace headwave
