#include "../../data/tokens/tokenizer_json.h"

#include "fuzz.h"

using namespace headwave;

FUZZ_SEEDS(
    R"({"model":{"type":"BPE","unk_token":"?","byte_fallback":true,"vocab":{"?":0,"a":1,"b":2,"ab":3},"merges":["a b"]},"normalizer":{"type":"Sequence","normalizers":[{"type":"NFKC"},{"type":"Lowercase"},{"type":"Replace","pattern":{"String":"a"},"content":"b"},{"type":"Prepend","prepend":"_"}]},"pre_tokenizer":{"type":"ByteLevel","add_prefix_space":true},"decoder":{"type":"ByteLevel"},"added_tokens":[{"id":4,"content":"<s>","special":true,"lstrip":true}]})",
    R"({"model":{"type":"WordPiece","unk_token":"[UNK]","continuing_subword_prefix":"##","max_input_chars_per_word":100,"vocab":{"[UNK]":0,"a":1,"##b":2,"[CLS]":3}},"normalizer":{"type":"BertNormalizer","lowercase":true},"pre_tokenizer":{"type":"BertPreTokenizer"},"post_processor":{"type":"BertProcessing","sep":["[UNK]",0],"cls":["[CLS]",3]},"decoder":{"type":"WordPiece","prefix":"##"}})")

FUZZ(bytes) {
  const InputFile file(bytes);
  refused_in_one_line([&] {
    const auto tokenizer = json_tokenizer(file.path());
    for (const std::int32_t id : tokenizer->encode("ab Abc \xc3\xa9\xe4\xb8\xad <s>\xFF [CLS]b"))
      if (id < 0 || id >= tokenizer->vocabulary()) std::abort();
    for (std::int32_t id = 0; id < tokenizer->vocabulary(); ++id) (void)tokenizer->token_text(id);
  });
}
