#include "../../data/files/unicode_text.h"

#include "../../core/errors/error.h"
#include "../../data/files/file_bytes.h"
#include "../../data/files/replaced_file.h"
#include "../../data/tokens/tokenizer.h"
#include "../catch.h"

using namespace headwave;

TEST_CASE("a text is cut where its last character is whole") {
  CHECK(whole_characters("") == 0);
  CHECK(whole_characters("ab") == 2);
  for (const std::string character : {"\u00e9", "\u3042", "\U0001F600"}) {
    for (std::size_t left = 1; left < character.size(); ++left)
      CHECK(whole_characters("ab" + character.substr(0, left)) == 2);
    CHECK(whole_characters("ab" + character) == 2 + character.size());
  }
  CHECK(whole_characters("\x80\x80") == 2);  // of nothing that begins here
}

TEST_CASE("a byte-order mark is left out before a text, and nowhere else") {
  CHECK(without_byte_order_mark("\xef\xbb\xbf"
                                "a") == "a");
  CHECK(without_byte_order_mark("\xef\xbb") == "\xef\xbb");
  CHECK(without_byte_order_mark("a\xef\xbb\xbf") == "a\xef\xbb\xbf");
}

TEST_CASE("a text beyond 1 GiB is refused before it is read") {
  const TemporaryFolder folder;
  const auto file = folder / "long.txt";
  write_text(file, "");
  std::filesystem::resize_file(file, (std::uintmax_t{1} << 30U) + 1);  // a hole: no bytes on the disk
  const MappedFile text(file);
  CHECK_THROWS_WITH(valid_utf8(text.text()),
                    ContainsSubstring("a text of 1073741825 bytes is too long, expected at most 1073741824: split"));
  CHECK_THROWS_WITH(valid_utf8(text.text()), ContainsSubstring("a text of 1073741825 bytes"));
  write_text(folder / "vocab.txt", "[UNK]\na\n[CLS]\n[SEP]\n[PAD]\n[MASK]\n");
  const auto tokenizer = open_tokenizer(folder.path());
  CHECK(tokenizer->encode("a").size() == 1);
  CHECK_THROWS_WITH(tokenizer->encode(text.text()),
                    ContainsSubstring("a text of 1073741825 bytes is too long, expected at most 1073741824: split"));
}
