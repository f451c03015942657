#include "gnuplot.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <memory>

#include <fmt/format.h>

#include "../../data/files/replaced_file.h"
#include "program.h"
#include "run_mark.h"
#include "visible_text.h"
#include "whole_figure.h"

namespace headwave {

namespace {

namespace fs = std::filesystem;

constexpr double text_size = 8.0;  // points

/// A figure as it comes on paper, enlarged.
struct Paper {
  double width, height;  // inches, before that
  double times;          // by how much everything is larger
  std::string font;
};

/// The terminals count sizes in their own ways: the cairo ones take a point for 1/96 inch, the SVG one for a user unit,
/// of which we give it 72 to the inch before the figure is enlarged. The factors make the three look alike.
std::string terminal(const std::string& format, const Paper& paper) {
  const double width = paper.width * paper.times, height = paper.height * paper.times;
  const std::string font = fmt::format("font \"{},{}\"", paper.font, text_size);
  if (format == "pdf")
    return fmt::format(
        "set terminal pdfcairo noenhanced color size {:.4f}in,{:.4f}in {} fontscale {} linewidth {} pointscale {} butt "
        "dashlength 0.6",
        width, height, font, 0.75 * paper.times, paper.times, paper.times);
  if (format == "svg")
    return fmt::format(
        "set terminal svg noenhanced size {:.0f},{:.0f} {} linewidth 0.5 butt dashlength 0.6 background \"#ffffff\"",
        paper.width * 72, paper.height * 72, font);
  if (format == "png") {
    // 200 dots per inch, fewer where cairo's largest picture (32767 dots) or sheer size would be the limit.
    const double dots = std::min(200.0, 8000.0 / std::max(width, height)), unit = dots * paper.times;
    return fmt::format(
        "set terminal pngcairo noenhanced color size {:.0f},{:.0f} {} fontscale {:.4f} linewidth {:.4f} pointscale "
        "{:.4f} butt dashlength 0.6 background \"#ffffff\"",
        width * dots, height * dots, font, unit / 96, unit / 144, unit / 72);
  }
  throw ShapeError(fmt::format("figure format '{}': expected pdf, svg or png", shortened(visible_text(format), 20)));
}

/// What gnuplot made of a format: it writes an SVG, which cannot tell that a part is missing, to us and not to a disk.
std::string made_figure(const ProgramEnd& end, const fs::path& scratch, const std::string& format) {
  if (format == "svg") return end.output;
  const fs::path path = scratch / ("figure." + format);
  if (!fs::exists(path)) return "";
  std::ifstream file(path, std::ios::binary);
  std::string content{std::istreambuf_iterator<char>(file), {}};
  if (!file.is_open() || file.bad()) throw IoError(fmt::format("{}: cannot be read", visible_text(path.string())));
  return content;
}

void replace_first(std::string& text, const std::string& old, const std::string& by) {
  if (const auto at = text.find(old); at != std::string::npos) text.replace(at, old.size(), by);
}

/// gnuplot gives an SVG its size in pixels and the title "Gnuplot"; on paper it should be as large as the PDF. Browsers
/// smooth the few pixels of an embedded heat map unless told not to. Of "]]>", which no text in XML may hold, gnuplot
/// leaves the ">" as it is.
std::string finished_svg(std::string svg, const std::string& name, const Paper& paper) {
  replace_first(
      svg, fmt::format("width=\"{:.0f}\" height=\"{:.0f}\"", paper.width * 72, paper.height * 72),
      fmt::format("width=\"{:.3f}in\" height=\"{:.3f}in\"", paper.width * paper.times, paper.height * paper.times));
  replace_first(svg, "<title>Gnuplot</title>", "<title>" + html_text(name) + "</title>");
  const std::string mark = "]]>", escaped = "]]&gt;";
  for (std::size_t at = svg.find(mark); at != std::string::npos; at = svg.find(mark, at + escaped.size()))
    svg.replace(at, mark.size(), escaped);
  const std::string family = fmt::format("font-family=\"{}", paper.font), bold = family + ":Bold\"";
  for (std::size_t at = svg.find(bold); at != std::string::npos; at = svg.find(bold, at))
    svg.replace(at, bold.size(), family + "\" font-weight=\"bold\"");
  const std::string image = "<image ";
  const std::string style = "style='image-rendering:optimizeSpeed;image-rendering:pixelated' ";
  for (std::size_t at = svg.find(image); at != std::string::npos; at = svg.find(image, at + style.size()))
    svg.insert(at + image.size(), style);
  return svg;
}

[[noreturn]] void refuse_without_gnuplot() {
  throw IoError("gnuplot is not installed, figures need it: install the Debian package gnuplot-nox, or leave them out");
}

ProgramEnd run_gnuplot(const fs::path& folder, const std::string& name) {
  // -d: neither the user's nor the system's start-up file may change how a figure looks.
  // GNUTERM names a terminal that gnuplot opens first, which it may not have.
  ProgramEnd end = run_program({"gnuplot", "-d", "figure.gp"}, folder, "GNUTERM=unknown");
  if (!end.found) refuse_without_gnuplot();
  // It goes on without a data file that it cannot read, and only warns.
  const bool skipped = end.errors.find("Cannot find or open file") != std::string::npos;
  if (end.exit_code == 0 && !skipped) return end;
  // What went wrong stands on the last line, below the command that was too much for it.
  const std::string said = end.errors.substr(0, end.errors.find_last_not_of(" \n") + 1);
  const std::string last = visible_text(said.substr(said.find_last_of('\n') + 1));
  throw IoError(
      fmt::format("figure {}: gnuplot ended with code {} and said: {}", name, end.exit_code, shortened(last, 400)));
}

}  // namespace

GnuplotFigure::GnuplotFigure(double width, double height, const FigureStyle& style)
    : width_(width), height_(height), style_(style) {
  require_style(style);
}

void GnuplotFigure::keep(const DataTable& numbers) {
  if (kept_)
    kept_->append(numbers);
  else
    kept_ = numbers;
}

std::string GnuplotFigure::add_data(const DataTable& data) {
  files_.push_back(gnuplot_data(data));
  return fmt::format("data{}.tsv", files_.size() - 1);
}

std::string GnuplotFigure::add_numbers(const DataTable& numbers) {
  keep(numbers);
  return add_data(numbers);
}

std::vector<DrawnFile> GnuplotFigure::drawn(const std::string& name, const std::vector<std::string>& formats,
                                            bool keep_data) const {
  // Data files hold texts with spaces and '#' in them.
  const std::string reading =
      "reset\nset encoding utf8\nset datafile separator \"\\t\"\nset datafile commentschars \"\"\n";
  const Paper paper{width_, height_, enlargement(style_), style_.font};
  std::string script;
  for (const std::string& format : formats)
    script += reading + terminal(format, paper) +
              fmt::format("\nset output{}\nload \"drawing.gp\"\n",
                          format == "svg" ? "" : fmt::format(" \"figure.{}\"", format));
  script += "set output\n";

  const ScratchFolder scratch;
  for (std::size_t i = 0; i < files_.size(); ++i)
    write_scratch_text(scratch.path() / fmt::format("data{}.tsv", i), files_[i]);
  write_scratch_text(scratch.path() / "drawing.gp", script_);
  write_scratch_text(scratch.path() / "figure.gp", script);
  const ProgramEnd end = formats.empty() ? ProgramEnd{} : run_gnuplot(scratch.path(), name);

  std::vector<DrawnFile> files;
  for (const std::string& format : formats) {
    std::string made = made_figure(end, scratch.path(), format);
    if (made.empty())
      throw IoError(fmt::format("figure {}: gnuplot made no {}; is its cairo terminal missing?", name, format));
    if (!is_whole_figure(made, format))
      throw IoError(fmt::format("figure {}: gnuplot made an incomplete {} in {}: is the disk full?", name, format,
                                visible_text(scratch.path().parent_path().string())));
    if (format == "svg") made = finished_svg(std::move(made), name, paper);
    files.push_back({format, std::move(made)});
  }
  if (keep_data && kept_) files.push_back({"tsv", tab_separated(*kept_)});
  return files;
}

std::vector<fs::path> GnuplotFigure::write(const fs::path& folder, const std::string& name,
                                           const std::vector<std::string>& formats, bool keep_data) const {
  return write_drawn(folder, name, drawn(name, formats, keep_data));
}

std::vector<fs::path> write_drawn(const fs::path& folder, const std::string& name, const std::vector<DrawnFile>& files,
                                  const std::string& mark) {
  make_folder(folder);
  std::vector<fs::path> written;
  std::vector<std::unique_ptr<ReplacedFile>> replaced;
  for (const DrawnFile& file : files) {
    written.push_back(folder / fmt::format("{}.{}", name, file.ending));
    replaced.push_back(std::make_unique<ReplacedFile>(written.back()));
    replaced.back()->write(with_run_mark(file.content, file.ending, mark));
  }
  commit_all(replaced);
  return written;
}

bool gnuplot_found() {
  const ScratchFolder scratch;
  return run_program({"gnuplot", "--version"}, scratch.path(), "GNUTERM=unknown").found;
}

void require_gnuplot() {
  if (!gnuplot_found()) refuse_without_gnuplot();
}

}  // namespace headwave
