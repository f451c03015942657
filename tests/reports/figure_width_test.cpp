#include "../../core/errors/error.h"
#include "../../reports/drawing/figure.h"
#include "../catch.h"

using namespace headwave;

TEST_CASE("figure width: widths by name and in inches, nothing else") {
  CHECK(figure_width("column") == 3.4);
  CHECK(figure_width("page") == 7);
  CHECK(figure_width("3.35") == 3.35);
  CHECK(figure_width("2") == 2);
  for (const char* none :
       {"", "0", "1.9", "7.1", "slide", "-3", "3in", "3,4", " 3", "nan", "inf", "1e9", "Column", "\n"}) {
    INFO(none);
    CHECK_FALSE(figure_width(none));
  }
}

TEST_CASE("figure width: what cannot be drawn is refused by name") {
  CHECK_NOTHROW(require_width(0));
  CHECK_NOTHROW(require_width(2));
  CHECK_THROWS_WITH(require_width(1), ContainsSubstring("figure width"));
  CHECK_THROWS_AS(require_width(std::numeric_limits<double>::quiet_NaN()), FormatError);
}

TEST_CASE("panels: nothing in a text can end it or act as a command") {
  CHECK(text_words("a") == "\"a\"");
  CHECK(text_words("a\" `id` \\n\n") == "\"a\\042 \\140id\\140 \\134n\\134n\"");
}
