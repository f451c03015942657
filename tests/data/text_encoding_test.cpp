#include "../../core/errors/error.h"
#include "../../data/files/input_text.h"
#include "../catch.h"

using namespace headwave;

namespace {

void refuse(std::string_view bytes, const std::string& said) {
  CHECK_THROWS_WITH(require_utf8(bytes, "a.txt"), ContainsSubstring(said));
}

}  // namespace

TEST_CASE("text that is not UTF-8 is refused with the line and offset of its first bad byte") {
  CHECK_NOTHROW(require_utf8("", "a.txt"));
  CHECK_NOTHROW(require_utf8("a \xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80\n", "a.txt"));
  refuse("a\nb\xe9 c",
         "a.txt: line 2, byte offset 3: byte 0xE9 is not UTF-8; expected text in UTF-8; convert it with `iconv -f "
         "LATIN1 -t UTF-8`");
  refuse("ab\xc3", "line 1, byte offset 2: byte 0xC3");
  refuse("\xed\xa0\x80", "byte 0xED");  // half of a pair
  refuse("\xc0\x80", "byte 0xC0");      // longer than need be
  refuse(std::string_view("ab\n\0c", 5), "line 2, byte offset 3: a NUL byte");
  refuse(std::string_view("a\0\xff", 3), "offset 1: a NUL byte");
}

TEST_CASE("what is no text at all is told by its name, and UTF-16 by its marks or its NULs") {
  refuse(std::string_view("\xff\xfe\x61\0", 4), "iconv -f UTF-16 -t UTF-8");
  refuse(std::string_view("a\0b\0 \0c\0", 8), "iconv -f UTF-16 -t UTF-8");
  refuse(std::string_view("\0a\0b\0 \0c", 8), "iconv -f UTF-16 -t UTF-8");
}
