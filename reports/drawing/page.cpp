#include "page.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "visible_text.h"

namespace headwave {

namespace {

constexpr double from_edge = 0.14;   // inches from the page's edge to the first row of a legend
constexpr double legend_row = 0.15;  // inches

/// Rows of a legend on a page so wide, by a rough guess of how wide its entries are.
Index legend_rows(const std::vector<LegendEntry>& entries, double width) {
  double widest = 0;
  for (const LegendEntry& entry : entries)
    widest = std::max(widest, (static_cast<double>(display_width(entry.title)) * 4.4 + 36) / 72);
  const auto in_row = std::max(1.0, std::floor((width - 0.2) / widest));
  return static_cast<Index>(std::ceil(static_cast<double>(entries.size()) / in_row));
}

/// Inches of height that the flow may take.
double flow_height(const PanelFlow& flow, const FigureStyle& style) {
  const double page = layout_height(style);
  return flow.tallest > 0 && style.width > 0 ? std::min(page, flow.tallest * layout_width(style)) : page;
}

}  // namespace

std::vector<std::string> note_lines(const std::vector<std::string>& parts, double width) {
  const auto fits = static_cast<Index>(width * 72 / 3.5);  // letters of 6 points
  std::vector<std::string> lines;
  for (const std::string& part : parts)
    if (lines.empty() || display_width(lines.back()) + 2 + display_width(part) > fits)
      lines.push_back(part);
    else
      lines.back() += "; " + part;
  return lines;
}

PanelGrid grid_of(const PanelFlow& flow, std::size_t n, const FigureStyle& style) {
  const PanelGrid flowed = flowing(flow.grid, n, flow.in_row);
  return fitted(with_legend_above(flowed, flow.legend, style), n, flow.least, style);
}

PanelFlow lowered(PanelFlow flow, std::size_t n, const FigureStyle& style) {
  const PanelGrid grid = grid_of(flow, n, style);
  const double over = (grid.height() - flow_height(flow, style)) / static_cast<double>(grid.rows);
  if (flow.lowest > 0 && over > 0)
    flow.grid.panel.height = std::max(std::min(flow.lowest, grid.panel.height), grid.panel.height - over);
  return flow;
}

std::size_t panels_that_fit(const PanelFlow& flow, std::size_t n, const FigureStyle& style) {
  const std::size_t fit = std::min(n, panels_within(grid_of(flow, n, style), flow_height(flow, style)));
  return std::max(flow.each, fit / flow.each * flow.each);
}

GnuplotFigure drawn_panels(const PanelFlow& flow, std::size_t n, const FigureStyle& style, const FillPanel& fill) {
  PanelGrid grid = grid_of(flow, n, style);
  std::vector<std::string> words;
  for (const std::string& said : {flow.note, flow.cut})
    if (!said.empty()) words.push_back(said);
  const std::vector<std::string> notes = note_lines(words, grid.width());
  const double below = note_line * static_cast<double>(notes.size());
  grid.margin.bottom += below;
  Page page(grid, style);
  page.legend(flow.legend);
  if (flow.color_steps > 0) page.step_colors(static_cast<Index>(flow.color_steps));
  for (std::size_t k = 0; k < n; ++k) fill(page, page.panel(k), k);
  if (!flow.below.empty()) page.title_below(flow.below, 0.1 + below, flow.points);
  if (!flow.left.empty()) page.title_left(flow.left, 0.12, flow.points);
  page.note_below(notes);
  if (!flow.cut.empty()) page.show("The figure shows " + flow.cut + ".");
  if (!flow.shown.empty()) page.show(flow.shown);
  return page.figure();
}

PanelGrid with_legend_above(PanelGrid grid, const std::vector<LegendEntry>& entries, const FigureStyle& style) {
  const double page = layout_width(style);
  if (!entries.empty())
    grid.margin.top += legend_row * static_cast<double>(legend_rows(entries, page > 0 ? page : grid.width()) - 1);
  return grid;
}

Page::Page(const PanelGrid& grid, const FigureStyle& style)
    : grid_(grid), style_(style), figure_(grid.width(), grid.height(), style), palette_(sequential_palette(style)) {}

Panel& Page::panel(std::size_t row, std::size_t column) {
  return panels_.emplace_back(grid_, row, column, style_);
}

void Page::title_below(const std::string& title, double height, double points) {
  panels_.front().note(title, grid_.at((grid_.margin.left + grid_.width() - grid_.margin.right) / 2, height),
                       {.points = points, .anchor = Anchor::center});
}

void Page::title_left(const std::string& title, double distance, double points) {
  panels_.front().note(title, grid_.at(distance, (grid_.margin.bottom + grid_.height() - grid_.margin.top) / 2),
                       {.points = points, .anchor = Anchor::center, .upward = true});
}

void Page::note_below(const std::vector<std::string>& lines) {
  for (std::size_t line = 0; line < lines.size(); ++line)
    panels_.front().note(lines[line],
                         grid_.at((grid_.margin.left + grid_.width() - grid_.margin.right) / 2,
                                  0.07 + note_line * static_cast<double>(lines.size() - 1 - line)),
                         {.points = 6, .ink = ink::note, .anchor = Anchor::center});
}

void Page::step_colors(Index steps) {
  palette_ = step_palette(style_, steps);
}

/// A drawing of its own inside the multiplot, since gnuplot would fold a panel's legend to the panel's width.
std::string Page::legend_script() const {
  if (legend_.empty()) return "";
  const Index rows = legend_rows(legend_, grid_.width());
  std::string plot;
  for (const LegendEntry& entry : legend_)
    plot += fmt::format("{}NaN with lines {} title {}", plot.empty() ? "" : ", ", line_words(entry.line, style_),
                        text_words(entry.title));
  const double middle = from_edge + legend_row * static_cast<double>(rows - 1) / 2;
  return fmt::format(
      "set lmargin at screen 0\nset rmargin at screen 1\nset bmargin at screen "
      "0\nset tmargin at screen 1\nset border 0\nunset xtics\nunset ytics\nset key at screen 0.5, screen {:.6f} "
      "center center horizontal samplen 2.6 maxrows {}\nplot [0:1] [0:1] {}\n",
      1 - middle / grid_.height(), rows, plot);
}

GnuplotFigure Page::figure() {
  const bool several = panels_.size() > 1 || !legend_.empty();
  std::string script = several ? "set multiplot\n" : "";
  script += legend_script() + "set minussign\nset angles degrees\n" + palette_ + '\n';
  for (const Panel& panel : panels_) script += panel.script();
  figure_.add(script + (several ? "unset multiplot" : ""));
  return std::move(figure_);
}

}  // namespace headwave
