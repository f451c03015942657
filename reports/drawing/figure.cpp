#include "figure.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "../../core/errors/error.h"
#include "../../core/numbers/decimal_number.h"
#include "../../data/files/replaced_file.h"
#include "visible_text.h"

namespace headwave {

namespace {

constexpr double from_edge = 0.14;                     // inches from the page's edge to the first row of a legend
constexpr double legend_row = 0.15, note_line = 0.12;  // inches between two rows
constexpr double least_width = 2.0, most_width = 7.0;  // inches
constexpr double page_height = 9.0;                    // inches

/// The number of rows of a legend on a page of this width, from a rough guess of the width of its entries.
Index legend_rows(const std::vector<LegendEntry>& entries, double width) {
  double widest = 0;
  for (const LegendEntry& entry : entries)
    widest = std::max(widest, (static_cast<double>(display_width(entry.title)) * 4.4 + 36) / 72);
  const auto in_row = std::max(1.0, std::floor((width - 0.2) / widest));
  return static_cast<Index>(std::ceil(static_cast<double>(entries.size()) / in_row));
}

/// Joins the notes into lines that fit the width, by a rough estimate.
std::vector<std::string> note_lines(const FigurePanels& panels, double width) {
  const auto fits = static_cast<Index>(width * 72 / 3.5);  // letters of 6 points
  std::vector<std::string> lines;
  for (const std::string& part : panels.notes)
    if (lines.empty() || display_width(lines.back()) + 2 + display_width(part) > fits)
      lines.push_back(part);
    else
      lines.back() += "; " + part;
  return lines;
}

/// Draws the legend as a plot of its own: gnuplot would fold the legend of a panel to the panel's width.
std::string legend_script(const std::vector<LegendEntry>& legend, const PanelGrid& grid) {
  const Index rows = legend_rows(legend, grid.width());
  std::string plot;
  for (const LegendEntry& entry : legend)
    plot += fmt::format("{}NaN with lines{} {} title {}", plot.empty() ? "" : ", ", entry.line.dots > 0 ? "points" : "",
                        line_words(entry.line), text_words(entry.title));
  const double middle = from_edge + legend_row * static_cast<double>(rows - 1) / 2;
  return fmt::format(
      "set lmargin at screen 0\nset rmargin at screen 1\nset bmargin at screen 0\nset tmargin at screen 1\nset border "
      "0\nunset xtics\nunset ytics\nset key at screen 0.5, screen {:.6f} center center horizontal samplen 2.6 maxrows "
      "{}\nplot [0:1] [0:1] {}\n",
      1 - middle / grid.height(), rows, plot);
}

}  // namespace

std::optional<double> figure_width(std::string_view words) {
  if (words == "column") return 3.4;
  if (words == "page") return most_width;
  const std::optional<double> inches = decimal_number(words);
  return inches && *inches >= least_width && *inches <= most_width ? inches : std::nullopt;
}

void require_width(double width) {
  if (width != 0 && !(width >= least_width && width <= most_width))
    throw FormatError(fmt::format("figure width: expected {} to {} inches, got {}", least_width, most_width, width));
}

std::string Figure::script() const {
  const bool several = panels.size() > 1 || !legend.empty();
  std::string script = several ? "set multiplot\n" : "";
  if (!legend.empty()) script += legend_script(legend, grid);
  script += "set minussign\nset angles degrees\n" + palette + '\n';
  std::size_t blocks = 0;
  for (const Panel& panel : panels) script += panel.script(blocks);
  return script + (several ? "unset multiplot\n" : "");
}

std::vector<std::filesystem::path> Figure::write(const std::filesystem::path& folder, const std::string& name,
                                                 const std::vector<std::string>& formats,
                                                 const std::string& caption) const {
  const std::vector<std::string> files = drawn(name, formats);
  make_folder(folder);
  std::vector<std::filesystem::path> written;
  const auto add = [&](const std::string& ending, const std::string& content) {
    written.push_back(folder / fmt::format("{}.{}", name, ending));
    write_text(written.back(), content);
  };
  for (std::size_t i = 0; i < files.size(); ++i) add(formats[i], files[i]);
  add("txt", visible_text(caption) + '\n');
  return written;
}

PanelGrid grid_of(const FigurePanels& panels, std::size_t n, double page) {
  PanelGrid grid = panels.grid;
  PanelGrid::Margin& margin = grid.margin;
  const double natural = grid.panel.width;
  const auto room = [&](std::size_t columns) {  // width of each panel in a row of so many
    return (page - margin.left - margin.right - static_cast<double>(columns - 1) * grid.gap.x) /
           static_cast<double>(columns);
  };
  grid.panels = n;
  grid.columns = std::clamp<std::size_t>(n, 1, panels.in_row);
  if (page > 0) {
    while (grid.columns > 1 && room(grid.columns) < panels.least) --grid.columns;
    const std::size_t rows = (n + grid.columns - 1) / grid.columns;
    grid.columns = (n + rows - 1) / rows;  // so that rows are equally full
    grid.panel.width = std::max(0.2, panels.grows ? room(grid.columns) : std::min(natural, room(grid.columns)));
  }
  grid.rows = (n + grid.columns - 1) / grid.columns;
  const double width = page > 0 ? page : grid.width();
  if (!panels.legend.empty()) margin.top += legend_row * static_cast<double>(legend_rows(panels.legend, width) - 1);
  margin.bottom += note_line * static_cast<double>(note_lines(panels, width).size());
  if (panels.flatness > 0) {
    grid.panel.height = panels.flatness * grid.panel.width;
  } else if (page > 0 && grid.rows == 1) {  // broader panels in a single row also grow in height
    const double fits = (page_height - margin.top - margin.bottom) / grid.panel.height;
    grid.panel.height *= std::max(1.0, std::min(grid.panel.width / natural, fits));
  }
  if (page > 0) margin.right += std::max(0.0, page - grid.width());
  return grid;
}

std::size_t fitting(const FigurePanels& panels, std::size_t n, double page) {
  if (page == 0) return n;
  const PanelGrid grid = grid_of(panels, n, page);
  const double room = page_height - grid.margin.top - grid.margin.bottom + grid.gap.y;
  const double rows = std::floor(room / (grid.panel.height + grid.gap.y) + 1e-9);
  const auto fit = grid.columns * static_cast<std::size_t>(std::clamp(rows, 1.0, static_cast<double>(grid.rows)));
  return std::max(panels.each, std::min(n, fit) / panels.each * panels.each);
}

Figure drawn_panels(const FigurePanels& panels, std::size_t wanted, double page) {
  require_width(page);
  const std::size_t n = fitting(panels, wanted, page);
  const PanelGrid grid = grid_of(panels, n, page);
  Figure figure{.grid = grid, .legend = panels.legend};
  if (panels.color_steps > 0) figure.palette = step_palette(static_cast<Index>(panels.color_steps));
  for (std::size_t k = 0; k < n; ++k) {
    Panel& panel = figure.panels.emplace_back(grid, k / grid.columns, k % grid.columns);
    panel.x = panels.x;
    panel.y = panels.y;
    panels.fill(panel, k);
    if (k == 0) {
      const double across = (grid.margin.left + grid.width() - grid.margin.right) / 2;
      const double up = (grid.margin.bottom + grid.height() - grid.margin.top) / 2;
      const auto notes = note_lines(panels, grid.width());
      const double height = note_line * static_cast<double>(notes.size());
      panel.note(panels.below, grid.at(across, 0.1 + height), {.points = panels.points, .anchor = Anchor::center});
      panel.note(panels.left, grid.at(0.12, up), {.points = panels.points, .anchor = Anchor::center, .upward = true});
      for (std::size_t line = 0; line < notes.size(); ++line)
        panel.note(notes[line], grid.at(grid.width() / 2, height - 0.05 - note_line * static_cast<double>(line)),
                   {.points = 6, .ink = ink::note, .anchor = Anchor::center});
    }
  }
  if (const std::size_t shown = n / panels.each; shown < panels.of)
    figure.shown = fmt::format("{} of {} {} are shown{}.", shown, panels.of, panels.what, panels.chosen);
  return figure;
}

}  // namespace headwave
