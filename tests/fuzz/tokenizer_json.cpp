#include "../../data/tokens/tokenizer_files.h"
#include "fuzz.h"
#include "used_tokenizer.h"

using namespace headwave;

FUZZ_SEEDS(
    R"({"model":{"type":"BPE","unk_token":"?","byte_fallback":true,"vocab":{"?":0,"a":1,"b":2,"ab":3},"merges":["a b"]},"normalizer":{"type":"Sequence","normalizers":[{"type":"NFKC"},{"type":"Lowercase"},{"type":"Replace","pattern":{"String":"a"},"content":"b"},{"type":"Prepend","prepend":"_"}]},"pre_tokenizer":{"type":"ByteLevel","add_prefix_space":true},"decoder":{"type":"ByteLevel"},"added_tokens":[{"id":4,"content":"<s>","special":true,"lstrip":true}]})",
    R"({"model":{"type":"WordPiece","unk_token":"[UNK]","continuing_subword_prefix":"##","max_input_chars_per_word":100,"vocab":{"[UNK]":0,"a":1,"##b":2,"[CLS]":3}},"normalizer":{"type":"BertNormalizer","lowercase":true},"pre_tokenizer":{"type":"BertPreTokenizer"},"post_processor":{"type":"BertProcessing","sep":["[UNK]",0],"cls":["[CLS]",3]},"decoder":{"type":"WordPiece","prefix":"##"}})", R"({"model":{"type":"Unigram","unk_id":0,"byte_fallback":true,"vocab":[["<unk>",0.0],["\u2581",-2.5],["a",-1.5],["\u2581ab",-0.5],["<0x41>",-9.0]]},"normalizer":{"type":"Sequence","normalizers":[{"type":"Precompiled","precompiled_charsmap":"CAAAAAAAAAAAAAAAYQA="},{"type":"Strip","strip_left":true,"strip_right":false},{"type":"Replace","pattern":{"Regex":" {2,}"},"content":" "}]},"pre_tokenizer":{"type":"Metaspace","replacement":"\u2581","prepend_scheme":"first","split":true},"post_processor":{"type":"TemplateProcessing","single":[{"SpecialToken":{"id":"a"}},{"Sequence":{"id":"A"}}],"special_tokens":{"a":{"ids":[2]}}},"decoder":{"type":"Metaspace","replacement":"\u2581"}})", R"({"model":{"type":"BPE","ignore_merges":true,"vocab":{"a":0,"b":1,"ab":2,"\u0120":3},"merges":[["a","b"]]},"normalizer":null,"pre_tokenizer":{"type":"Sequence","pretokenizers":[{"type":"Split","pattern":{"Regex":"(?i:'s|'t)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}{1,3}|\\s+(?!\\S)|\\s+"},"behavior":"MergedWithPrevious","invert":true},{"type":"Digits","individual_digits":true},{"type":"Punctuation","behavior":"Contiguous"},{"type":"ByteLevel","add_prefix_space":false,"use_regex":false}]},"decoder":{"type":"Sequence","decoders":[{"type":"BPEDecoder","suffix":"</w>"},{"type":"ByteFallback"},{"type":"Fuse"}]}})")

FUZZ(bytes) {
  const InputFile file(bytes);
  refused_in_one_line([&] { use(*json_tokenizer(file.path()), "ab Abc \xc3\xa9\xe4\xb8\xad <s>\xFF [CLS]b"); });
}
