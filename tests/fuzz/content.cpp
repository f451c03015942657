#include "../../core/fields/head_name.h"
#include "../../data/files/file_content.h"
#include "../../data/files/printable.h"
#include "fuzz.h"

using namespace headwave;
using namespace std::literals;

FUZZ_SEEDS("L2H3", "PK\x03\x04\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x05\0\0\0a.npy"sv, "\x80\x02}q\x00.", "GGUF")

// What a file is by its bytes, and what is said of it; and the name of a head, as a command line has it.
FUZZ(bytes) {
  (void)words_of(content_of(bytes));
  const InputFile file(bytes);
  refused_in_one_line([&] { (void)foreign_file(file.path(), expected_states); });
  refused_in_one_line([&] {
    const HeadName head = parse_head_name(bytes);
    if (!(parse_head_name(head_name(head.layer, head.head)) == head)) std::abort();
  });
  for (const char c : printable(bytes))
    if (c < ' ' || c > '~') std::abort();
}
