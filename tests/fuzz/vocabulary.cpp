#include "../../data/tokens/tokenizer_files.h"
#include "fuzz.h"

using namespace headwave;

FUZZ_SEEDS("[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\na\n##b\n")

// A vocab.txt.
FUZZ(bytes) {
  const InputFile lines(bytes);
  refused_in_one_line([&] {
    const auto tokenizer = word_piece_tokenizer(lines.path());
    (void)tokenizer->encode("ab Abc \xc3\xa9\xe4\xb8\xad [MASK]\xFF");
  });
}
