#pragma once

#include <filesystem>
#include <memory>

#include "tokenizer.h"

namespace headwave {

/// Reads the tokenizer that a tokenizer.json describes. The known types are
///
///   model           WordPiece, BPE (without dropout), WordLevel, Unigram. If the type is missing, as in old files, merges
///                   mean BPE, max_input_chars_per_word means WordPiece, and unk_id means Unigram
///   normalizer      BertNormalizer, NFC, NFD, NFKC, NFKD, Lowercase, StripAccents, Strip, Prepend, Replace, ByteLevel,
///                   Precompiled, Sequence
///   pre_tokenizer   BertPreTokenizer, ByteLevel, Whitespace, WhitespaceSplit, Punctuation, Digits, Metaspace,
///                   Split, Sequence
///   post_processor  TemplateProcessing, BertProcessing, RobertaProcessing, ByteLevel, Sequence: gives the tokens that
///                   open and close a document, at most one of each; not read if the tokenizer only names ids
///   decoder         ByteLevel, WordPiece, Replace, Metaspace, BPEDecoder, ByteFallback, Fuse, Strip, Sequence: says how
///                   pieces are shown
///
/// Truncation and padding are not read, since documents are cut elsewhere.
///
/// @throws IoError if the file cannot be read; FormatError if it is broken, or has a step of another type
std::unique_ptr<Tokenizer> json_tokenizer(const std::filesystem::path& path, TokenizerUse use = TokenizerUse::text);

/// Reads BERT's tokenizer from a vocab.txt with one piece per line. The result equals the tokenizer.json that
/// transformers would write. The tokenizer_config.json beside it gives do_lower_case, strip_accents,
/// tokenize_chinese_chars and the names of special tokens. A piece on two lines has the id of the later line.
/// For the class EsmTokenizer, every piece, such as the letter of an amino acid, is found as it is.
/// @throws IoError if a file cannot be read; FormatError if it is not UTF-8, has no unknown token, or lacks
///         an added token
std::unique_ptr<Tokenizer> word_piece_tokenizer(const std::filesystem::path& vocab_txt);

}  // namespace headwave
