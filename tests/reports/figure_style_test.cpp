#include "../../reports/drawing/figure_style.h"

#include "../../core/errors/error.h"
#include "../../reports/drawing/panel.h"
#include "../catch.h"

using namespace headwave;

TEST_CASE("figure style: widths by name and in inches, nothing else") {
  CHECK(figure_width("column") == 3.4);
  CHECK(figure_width("page") == 7);
  CHECK(figure_width("slide") == 12);
  CHECK(figure_width("3.35") == 3.35);
  CHECK(figure_width("2") == 2);
  CHECK(figure_width("40") == 40);
  for (const char* none : {"", "0", "1.9", "41", "-3", "3in", "3,4", " 3", "nan", "inf", "1e9", "Column", "\n"}) {
    INFO(none);
    CHECK_FALSE(figure_width(none));
  }
}

TEST_CASE("figure style: letters keep their size up to a page, and grow with what is broader") {
  CHECK(enlargement({}) == 1);
  CHECK(layout_width({}) == 0);
  CHECK(enlargement({.width = 3.4}) == 1);
  CHECK(layout_width({.width = 3.4}) == 3.4);
  CHECK(enlargement({.width = 14}) == 2);
  CHECK(layout_width({.width = 14}) == 7);
  CHECK(enlargement({.width = 14, .points = 10}) == 1.25);
  CHECK(layout_width({.width = 14, .points = 10}) == Approx(11.2).epsilon(1e-15));
  CHECK(legible(4.2, {}) == 6);
  CHECK(legible(7, {.width = 3.4}) == 7);
  CHECK(legible(4.2, {.width = 14}) == 6);                                // 12 points on paper
  CHECK(legible(4.2, {.points = 7}) == Approx(48.0 / 7).epsilon(1e-15));  // 6 points on paper
  CHECK(legible(4.2, {.points = 5}) == 8);                                // as those along the axes
}

TEST_CASE("figure style: a font's name has nothing in it that means anything") {
  for (const char* name : {"Helvetica", "DejaVu Sans", "Noto Sans CJK JP", "sans-serif", "Latin Modern Roman 10"}) {
    INFO(name);
    CHECK(is_font_name(name));
  }
  for (const std::string& name :
       {std::string(), std::string("a\""), std::string("a\nset output 'x'"), std::string("a,8"), std::string("a:Bold"),
        std::string("a;!id"), std::string("`id`"), std::string("a\\"), std::string("8"), std::string("-d"),
        std::string("a "), std::string(" a"), std::string("a'"), std::string("a\0b", 3), std::string("é"),
        std::string(65, 'a')}) {
    INFO(name);
    CHECK_FALSE(is_font_name(name));
    FigureStyle style;
    style.font = name;
    CHECK_THROWS_AS(require_style(style), FormatError);
  }
}

TEST_CASE("figure style: what cannot be drawn is refused by name") {
  CHECK_NOTHROW(require_style({}));
  CHECK_NOTHROW(require_style({.width = 2, .points = 4, .font = "Times", .palette = "grey"}));
  CHECK_THROWS_WITH(require_style({.width = 1}), ContainsSubstring("figure width"));
  CHECK_THROWS_AS(require_style({.width = std::numeric_limits<double>::quiet_NaN()}), FormatError);
  CHECK_THROWS_WITH(require_style({.points = 3}), ContainsSubstring("font size"));
  CHECK_THROWS_WITH(require_style({.width = 3.4, .points = 20}), ContainsSubstring("at most 13.6"));
  CHECK_THROWS_WITH(require_style({.palette = "jet\n"}),
                    ContainsSubstring("palette 'jet\\n': expected one of viridis"));
}

TEST_CASE("panels: nothing in a text can end it or act as a command") {
  CHECK(text_words("a") == "\"a\"");
  CHECK(text_words("a\" `id` \\n\n") == "\"a\\042 \\140id\\140 \\134n\\134n\"");
}
