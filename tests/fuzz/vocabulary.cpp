#include "../../data/tokens/tokenizer_files.h"
#include "fuzz.h"

using namespace headwave;
using namespace std::literals;

FUZZ_SEEDS("[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\na\n##b\n", "{\"a\":0,\"b\":1,\"ab\":2}\0#version\na b\n"sv)

// A vocab.txt; and a vocab.json and merges.txt with a zero between. (Merges: tokenizer_json.cpp reaches more of them.)
FUZZ(bytes) {
  const InputFile lines(bytes);
  refused_in_one_line([&] {
    const auto tokenizer = word_piece_tokenizer(lines.path());
    (void)tokenizer->encode("ab Abc \xc3\xa9\xe4\xb8\xad [MASK]\xFF");
  });
  const auto [pieces, merges] = halves(bytes);
  const InputFile vocabulary(pieces), second(merges);
  refused_in_one_line([&] { (void)byte_level_tokenizer(vocabulary.path(), second.path()); });
}
