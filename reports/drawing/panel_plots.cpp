// What is drawn from numbers; see panel.cpp for all that stands around it.
#include <fmt/format.h>

#include "panel.h"

namespace headwave {

void Panel::plot(const std::string& what, const std::string& with, const std::string& name) {
  if (!plot_.empty()) plot_ += ", \\\n  ";
  plot_ += fmt::format("{} with {} {}", what, with, name.empty() ? "notitle" : "title " + text_words(name));
}

void Panel::plot(const std::string& file, const std::string& columns, const std::string& with,
                 const std::string& name) {
  plot(fmt::format("\"{}\" using {}", file, columns), with, name);
}

void Panel::curve(const std::string& file, const std::string& columns, const Line& line, const std::string& name) {
  plot(file, columns, (line.dots > 0 ? "linespoints " : "lines ") + line_words(line, style_), name);
}

void Panel::falling_diagonal(const Line& line, const std::string& name) {
  plot("-x", "lines " + line_words(line, style_), name);
}

void Panel::diagonal(const Line& line) {
  plot("x", "lines " + line_words(line, style_));
}

void Panel::colored_curve(const std::string& file, const std::string& columns, double width, double dots) {
  plot(file, columns, fmt::format("linespoints lc palette lw {} pt 7 ps {}", width, dots), "");
}

void Panel::band(const std::string& file, const std::string& columns, const Ink& ink, double opacity) {
  const std::string fill = opacity > 0 ? fmt::format(" fs transparent solid {} noborder", opacity) : "";
  plot(file, columns, fmt::format("filledcurves lc {}{}", color_words(ink, style_), fill), "");
}

void Panel::area(const std::string& file, const std::string& columns, double level, const Ink& ink, double strength) {
  const std::string fill = strength > 0 ? fmt::format(" fs solid {} noborder", strength) : "";
  plot(file, columns, fmt::format("filledcurves y={} lc {}{}", level, color_words(ink, style_), fill), "");
}

void Panel::heat_map(const std::string& file, const std::string& columns) {
  plot(file, columns, "image", "");
}

void Panel::dots(const std::string& file, const std::string& columns, const Dot& dot, double line_width) {
  plot(file, columns,
       fmt::format("points pt {} ps variable lw {} lc {}", static_cast<int>(dot.shape), line_width,
                   color_words(dot.ink, style_)),
       "");
}

void Panel::strokes(const std::string& file, const std::string& columns, const Line& line) {
  plot(file, columns, "vectors nohead " + line_words(line, style_), "");
}

void Panel::boxes(const std::string& file, const std::string& columns, const Ink& ink) {
  plot(file, columns, "boxxyerror fs solid 1 noborder fc " + color_words(ink, style_), "");
}

void Panel::frames(const std::string& file, const std::string& columns, const Line& line) {
  plot(file, columns, fmt::format("boxxyerror fs empty lc {} lw {}", color_words(line.ink, style_), line.width), "");
}

void Panel::pies(const std::string& file, const std::string& columns, const Ink& ink) {
  plot(file, columns, "circles fs solid 1 noborder lc " + color_words(ink, style_), "");
}

void Panel::texts(const std::string& file, const std::string& columns, const Letters& letters) {
  plot(file, columns, "labels " + letter_words(letters, style_), "");
}

void Panel::x_tic_names(const std::string& file, int place, int text) {
  // Tics come with points; these lie far outside.
  plot(file, fmt::format("{}:(-9):xticlabels({})", place, text), "dots lc " + color_words(ink::paper, style_), "");
}

void Panel::y_tic_names(const std::string& file, int place, int text) {
  plot(file, fmt::format("(-9):{}:yticlabels({})", place, text), "dots lc " + color_words(ink::paper, style_), "");
}

void Panel::color_range(const ValueRange& range, bool logarithmic) {
  colors_ += fmt::format("{}set cbrange [{}:{}]\n", logarithmic ? "set logscale cb\n" : "", range.low, range.high);
}

void Panel::color_bar(const ColorBar& bar) {
  colors_ += fmt::format("set colorbox vertical user origin {} size {:.6f},{:.6f} border\n",
                         place_words(grid_.at(bar.x, bar.y)), bar.width / grid_.width(), bar.height / grid_.height());
  colors_ += fmt::format("set cbtics {} {} offset {},0 scale {}\n", tic_words(bar.tics),
                         font_words(bar.tics.points, false, style_), -bar.tics.away, bar.title.empty() ? 0.5 : 0.4);
  if (bar.tics.numbers == Numbers::plain) colors_ += "set format cb \"%g\"\n";
  colors_ += fmt::format("set cblabel {} {} offset {},0\n", text_words(bar.title), font_words(6.5, false, style_),
                         bar.title_right);
}

}  // namespace headwave
