#include "../../core/errors/error.h"
#include "../../data/files/input_text.h"
#include "../catch.h"

using namespace headwave;

namespace {

constexpr std::size_t all = std::string::npos;

void refuse(std::string_view bytes, const std::string& said) {
  CHECK_THROWS_WITH(require_utf8(bytes, {.name = "a.txt"}), ContainsSubstring(said));
}

}  // namespace

TEST_CASE("text that is not UTF-8 is refused with the line and offset of its first bad byte") {
  CHECK_NOTHROW(require_utf8("", {.name = "a.txt"}));
  CHECK_NOTHROW(require_utf8("a \xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80\n", {.name = "a.txt"}));
  refuse("a\nb\xe9 c", "a.txt: line 2, offset 3: byte 0xE9 is not UTF-8; expected text in UTF-8; give encoding=");
  refuse("ab\xc3", "line 1, offset 2: byte 0xC3");
  refuse("\xed\xa0\x80", "byte 0xED");  // half of a pair
  refuse("\xc0\x80", "byte 0xC0");      // longer than need be
  refuse(std::string_view("ab\n\0c", 5), "line 2, offset 3: a NUL byte");
  refuse(std::string_view("a\0\xff", 3), "offset 1: a NUL byte");
}

TEST_CASE("what is no text at all is told by its name, and UTF-16 by its marks or its NULs") {
  refuse("\x89PNG\r\n\x1a\n", "a.txt: this is an image, expected text in UTF-8 (line 1, offset 0");
  refuse(std::string_view("\xff\xfe\x61\0", 4), "give encoding=UTF-16");
  refuse(std::string_view("a\0b\0 \0c\0", 8), "give encoding=UTF-16LE");
  refuse(std::string_view("\0a\0b\0 \0c", 8), "give encoding=UTF-16BE");
}

TEST_CASE("a text of a named encoding is decoded, and what cannot be is replaced and counted") {
  CHECK(decoded_text("caf\xe9", "latin1", all).text == "caf\xc3\xa9");
  CHECK(decoded_text("\xcf\xf0", "cp1251", all).text == "\xd0\x9f\xd1\x80");
  // A mark is no character, and the two halves of a pair are one.
  const DecodedText wide = decoded_text(std::string_view("\xff\xfe\x61\0\x3d\xd8\0\xde", 8), "UTF-16", all);
  CHECK(wide.text == "a\xf0\x9f\x98\x80");
  CHECK(wide.replaced == 0);
  CHECK(decoded_text("\xef\xbb\xbf\x61", "UTF-8", all).text == "a");
  // Without the mark nothing says the order of the bytes, and the wrong one gives text of other letters.
  CHECK_THROWS_WITH(decoded_text(std::string_view("a\0b\0", 4), "UTF-16", all),
                    ContainsSubstring("say UTF-16LE or UTF-16BE"));
  CHECK_THROWS_WITH(decoded_text(std::string_view("a\0\0\0", 4), "utf-32", all),
                    ContainsSubstring("say UTF-32LE or UTF-32BE"));
  CHECK(decoded_text(std::string_view("\xff\xfe\0\0\x61\0\0\0", 8), "UTF-32", all).text == "a");

  const DecodedText broken = decoded_text(std::string_view("a\xe9 b\0", 5), "utf-8", all);
  CHECK(broken.text == "a\xef\xbf\xbd b\xef\xbf\xbd");
  CHECK(broken.replaced == 2);
  CHECK(broken.characters == 5);
  CHECK(decoded_text("", "UTF-8", all).characters == 0);
}

TEST_CASE("a long text is decoded as far as it is needed, to the end of a line") {
  std::string bytes;
  for (int i = 0; i < 20000; ++i) bytes += std::string("caf\xe9 \n");
  const DecodedText some = decoded_text(bytes, "latin1", 20);
  CHECK(some.text == "caf\xc3\xa9 \ncaf\xc3\xa9 \ncaf\xc3\xa9 \n");
  CHECK(some.bytes < bytes.size());
  CHECK(decoded_text(bytes, "latin1", all).text.size() == 7 * 20000);
  // Pairs fall on every boundary of what is decoded at once.
  std::string pairs = std::string("\x61\0", 2);
  for (int i = 0; i < 5000; ++i) pairs += std::string("\x3d\xd8\0\xde", 4);
  CHECK(decoded_text(pairs, "UTF-16LE", all).text.size() == 1 + 4 * 5000);
}

TEST_CASE("an encoding that nobody knows is told apart from those that are known") {
  for (const char* name : {"UTF-8", "utf8", "UTF-16", "windows-1251", "latin1", "Shift_JIS", "gb18030"})
    CHECK(is_encoding(name));
  for (const char* name : {"", "nonsense", "8"}) CHECK_FALSE(is_encoding(name));
  CHECK_THROWS_WITH(decoded_text("a", "nonsense", all), ContainsSubstring("no encoding 'nonsense'"));
}
