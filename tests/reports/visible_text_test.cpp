#include "../../reports/drawing/visible_text.h"

#include "../catch.h"

using namespace headwave;

TEST_CASE("visible text: what cannot be seen is written out, all else stays") {
  CHECK(visible_text("plain words") == "plain words");
  CHECK(visible_text(" leading and trailing ") == "␣leading and trailing␣");
  CHECK(visible_text("   ") == "␣␣␣");
  CHECK(visible_text("").empty());
  CHECK(visible_text("\n\t\r\x1b[31m") == "\\n\\t\\r\\u001b[31m");
  CHECK(visible_text(std::string_view("\0x", 2)) == "\\u0000x");
  CHECK(visible_text("back\\slash {/Symbol} $x %s `date`") == "back\\slash {/Symbol} $x %s `date`");
  CHECK(visible_text("日本 é 😀") == "日本 é 😀");
  CHECK(visible_text("a\u202Eb\u200Bc\uFEFFd\u0085") == "a\\u202eb\\u200bc\\ufeffd\\u0085");
}

TEST_CASE("visible text: bytes that are no UTF-8 are written out one by one") {
  CHECK(visible_text("a\xFF\xFE") == "a\\xff\\xfe");
  CHECK(visible_text("\xE6\x97") == "\\xe6\\x97");           // cut short
  CHECK(visible_text("\xC0\xAF") == "\\xc0\\xaf");           // overlong
  CHECK(visible_text("\xED\xA0\x80") == "\\xed\\xa0\\x80");  // surrogate
  CHECK(visible_text("\xF5\x80\x80\x80") == "\\xf5\\x80\\x80\\x80");
  CHECK(visible_text("\x80") == "\\x80");
}

TEST_CASE("display width: as a terminal counts") {
  CHECK(display_width("abc") == 3);
  CHECK(display_width("é") == 1);
  CHECK(display_width("e\u0301") == 1);  // combining mark
  CHECK(display_width("日本") == 4);
  CHECK(display_width("한글") == 4);
  CHECK(display_width("😀") == 2);
  CHECK(display_width("…") == 1);
  CHECK(display_width("") == 0);
}

TEST_CASE("shortened text fits and keeps characters whole") {
  CHECK(shortened("abcdef", 6) == "abcdef");
  CHECK(shortened("abcdefg", 6) == "abcde…");
  CHECK(shortened("日本語", 6) == "日本語");
  CHECK(shortened("日本語", 5) == "日本…");
  CHECK(shortened("日本語", 4) == "日…");
  CHECK(shortened("e\u0301e\u0301e\u0301", 2) == "e\u0301…");  // the mark stays with its letter
  CHECK(shortened("abc", 1) == "…");
  for (Index width = 1; width < 12; ++width) CHECK(display_width(shortened("ab日本cd😀efg", width)) <= width);
}

TEST_CASE("html text: no byte of it is markup") {
  CHECK(html_text("<b>&\"'") == "&lt;b&gt;&amp;&quot;&#39;");
  CHECK(html_text("a\nb") == "a\\nb");
  CHECK(html_text("日本") == "日本");
}
