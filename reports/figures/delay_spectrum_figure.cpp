#include "delay_spectrum_figure.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "../drawing/page.h"
#include "cluster_peaks.h"
#include "delay_curves.h"

namespace headwave {

namespace {

constexpr double largest_dot = 1.5;  // size of the largest |C(f)|
constexpr double smallest_dot = 0.13;

/// Largest |t| of the panel: room around the fitted delay and the measured offset.
double reach_of(const DelayCurve& curve) {
  double reach = 5.0;
  for (const double t : {curve.estimate, curve.head.measured})
    if (std::abs(t) <= 1000) reach = std::max(reach, std::ceil(1.4 * std::abs(t) + 2));
  return reach;
}

/// `nearest` is the delay plus the multiple of T/f that comes closest to the fitted one.
DataTable numbers_of(const DelayCurve& curve, const DelayCurves& curves) {
  DataTable table({"layer", "head", "frequency", "delay", "nearest", "modulus", "dot", "estimate", "lower", "upper",
                   "measured_offset"});
  for (std::size_t f = 1; f <= std::min(curves.last, curves.span.count - 1); ++f) {
    const double turn = curves.span.length / static_cast<double>(f);
    const double turns = std::round((curve.estimate - curve.delay[f]) / turn);
    const double nearest = std::isfinite(turns) ? curve.delay[f] + turns * turn : std::nan("");
    const double share = curve.modulus[f] / curve.largest;
    table.add_row({curve.head.name.layer, curve.head.name.head, static_cast<Index>(f), curve.delay[f], nearest,
                   curve.modulus[f], std::max(smallest_dot, largest_dot * std::sqrt(share)), curve.estimate,
                   curve.lower, curve.upper, curve.head.measured});
  }
  return table;
}

/// The largest delay that one frequency can tell, T/(2f), from where it enters the panel.
DataTable bound_of(const DelayCurves& curves, double reach) {
  DataTable table({"frequency", "bound"});
  const double end = static_cast<double>(curves.last) + 0.5;
  const double begin = std::max(0.5, curves.span.length / (2 * reach));
  constexpr int steps = 200;
  for (int i = 0; i <= steps; ++i) {
    const double f = begin < end ? begin + (end - begin) * i / steps : end;
    table.add_row({f, std::min(reach, curves.span.length / (2 * f))});
  }
  return table;
}

constexpr double legend_width = 5.2;  // inches; on a narrower page it takes four lines instead of two

PanelGrid delay_grid(std::size_t heads, const FigureStyle& style) {
  PanelGrid grid;
  grid.panel_width = heads == 1 ? 4.2 : 2.75;
  grid.panel_height = heads == 1 ? 2.2 : 1.55;
  grid.gap_x = 0.6;
  grid.gap_y = 0.44;
  grid.left = 0.6;
  grid.top = style.width > 0 && layout_width(style) < legend_width ? 1.12 : 0.72;
  grid.bottom = 0.52;
  return fitted(flowing(grid, heads, heads == 1 ? 1 : 2), heads, 2.2, style);
}

/// Lines above all panels that say what the marks are, drawn from left to right.
class MarkLegend {
 public:
  MarkLegend(Panel& panel, const PanelGrid& grid) : panel_(panel), grid_(grid), y_(grid.height() - 0.14) {}

  void next_line() { y_ -= 0.2; }
  void text(double at, const std::string& words) { panel_.note(words, place(at), {.points = 6.5}); }
  void dot(double at, double size, Shape shape) { panel_.mark(place(at), {ink::measured, size, shape}); }
  void line(double at, const Line& line) { panel_.segment(place(at), place(at + 0.26), line); }
  void box(double at, const Ink& ink) { panel_.rectangle(place(at, -0.05), place(at + 0.26, 0.05), ink); }

 private:
  [[nodiscard]] Place place(double at, double up = 0.0) const { return grid_.at(grid_.left + at, y_ + up); }
  Panel& panel_;
  const PanelGrid& grid_;
  double y_;
};

void add_legend(Panel& panel, const PanelGrid& grid, double coverage) {
  const bool narrow = grid.width() < legend_width && grid.top > 1;
  MarkLegend legend(panel, grid);
  legend.dot(0.05, largest_dot, Shape::disc);
  legend.text(0.15, "100 %");
  legend.dot(0.53, largest_dot * std::sqrt(0.1), Shape::disc);
  legend.text(0.6, "10 %");
  legend.dot(0.92, largest_dot * std::sqrt(0.01), Shape::disc);
  legend.text(0.98, "1 % of the head's largest |C(f)|");
  if (narrow) legend.next_line();
  legend.dot(narrow ? 0.05 : 2.62, largest_dot * std::sqrt(0.3), Shape::ring);
  legend.text(narrow ? 0.15 : 2.73, "t(f) moved by multiples of T/f");
  legend.next_line();
  legend.box(0, ink::interval);
  legend.line(0, {ink::mark, 1.6});
  legend.text(0.32,
              coverage > 0 ? fmt::format("fitted delay, {:g} % interval", 100 * coverage) : "fitted delay, interval");
  if (narrow) legend.next_line();
  const double second = narrow ? 0 : 1.78;
  legend.line(second, {ink::other_mark, 1.6, "-"});
  legend.text(second + 0.32, "measured offset");
  legend.box(second + 1.24, ink::shade_on_paper);
  legend.text(second + 1.56, "beyond ±T/(2f)");
}

/// What runs across the panel: its left and right end, for lines above the grey and behind the dots.
DataTable across(const DelayCurve& curve, const DelayCurves& curves, double reach) {
  DataTable table({"frequency", "estimate", "lower", "upper", "measured_offset"});
  const auto inside = [reach](double t) { return std::abs(t) <= reach ? t : std::nan(""); };
  const auto last = static_cast<double>(curves.last);
  for (const double f : {-0.02 * last, last + 0.5})  // not beyond: gnuplot leaves such lines out
    table.add_row({f, inside(curve.estimate), std::clamp(curve.lower, -reach, reach),
                   std::clamp(curve.upper, -reach, reach), inside(curve.head.measured)});
  return table;
}

std::string tokens(double t) {
  return fmt::format("{}{:.2f}", t < 0 ? "−" : t > 0 ? "+" : "", std::abs(t));
}

std::string title(const DelayCurve& curve) {
  if (!std::isfinite(curve.estimate)) return "no delay";
  if (!curve.told())
    return fmt::format("delay {}, coherence {:.2f}: not above chance", tokens(curve.estimate), curve.coherence);
  const std::string interval = std::isfinite(curve.lower) && std::isfinite(curve.upper)
                                   ? fmt::format(" ({} to {})", tokens(curve.lower), tokens(curve.upper))
                                   : "";
  return fmt::format("delay {}{}, coherence {:.2f}", tokens(curve.estimate), interval, curve.coherence);
}

/// What stands around the curves.
void add_frame(Panel& panel, const PanelGrid& grid, const DelayCurves& curves, std::size_t k, double reach) {
  const DelayCurve& curve = curves.heads[k];
  const double left = grid.panel_left(grid.column_of(k));
  const double y = grid.panel_bottom(grid.row_of(k)) + grid.panel_height + 0.12;
  panel.note(head_name(curve.head.name.layer, curve.head.name.head), grid.at(left, y), {.points = 8, .bold = true});
  panel.note(title(curve), grid.at(left + grid.panel_width, y), {.points = 6.5, .anchor = Anchor::right});
  if (grid.column_of(k) == 0) panel.title_left("delay t (tokens)", 0.44);
  const bool lowest = grid.is_lowest(k, curves.heads.size());
  if (lowest) panel.title_below(fmt::format("frequency f (cycles/T, T = {:g})", curves.span.length));
  const auto last = static_cast<double>(curves.last);
  panel.x_axis({-0.02 * last, last + 0.5},
               {.step = tic_step(last), .numbers = lowest ? Numbers::plain : Numbers::none});
  panel.y_axis({-reach, reach}, {.step = tic_step(2 * reach)});
}

void add_panel(Page& page, const DelayCurves& curves, std::size_t k) {
  const DelayCurve& curve = curves.heads[k];
  const double reach = reach_of(curve);
  Panel& panel = page.panel(k);
  if (k == 0) add_legend(panel, page.grid(), curves.coverage);
  add_frame(panel, page.grid(), curves, k, reach);
  const std::string bound = page.data(bound_of(curves, reach));
  const std::string dots = page.numbers(numbers_of(curve, curves));
  const std::string lines = page.data(across(curve, curves, reach));
  if (curve.lower < curve.upper) panel.band(lines, "1:3:4", ink::interval);
  panel.area(bound, "1:2", reach, ink::shade);
  panel.area(bound, "1:(-$2)", -reach, ink::shade);
  if (std::abs(curve.estimate) <= reach) panel.curve(lines, "1:2", {curve.told() ? ink::mark : ink::chance, 1.6});
  if (std::abs(curve.head.measured) <= reach) panel.curve(lines, "1:5", {ink::other_mark, 1.6, "-"});
  panel.dots(dots, fmt::format("3:(abs($5-$4)>1e-9 && abs($5)<={} && $6>{}?$5:NaN):7", reach, 0.01 * curve.largest),
             {.ink = ink::moved_dot, .shape = Shape::ring}, 0.8);
  panel.dots(dots, fmt::format("3:(abs($4)<={}?$4:NaN):7", reach), {.ink = ink::dot});
}

GnuplotFigure draw_delay_spectrum(const Result& result, const FigureOptions& options) {
  const DelayCurves curves = delay_curves(result, options);
  Page page(delay_grid(curves.heads.size(), options.style), options.style);
  for (std::size_t k = 0; k < curves.heads.size(); ++k) add_panel(page, curves, k);
  return page.figure();
}

}  // namespace

FigureKind delay_spectrum_figure() {
  return {"delay_spectrum",
          {"delay_spectrum/by_frequency", "delay_spectrum/cross_real", "delay_spectrum/cross_imaginary",
           "delay_spectrum/estimate", "delay_spectrum/offset", "delay_spectrum/lower", "delay_spectrum/upper",
           "delay_spectrum/coherence"},
          clearness_fields(),
          "The delay in tokens that each frequency of single heads' queries and keys points to: the area of a dot is "
          "its share of the head's largest |C(f)|, the cross-spectrum's modulus. Line and band: the delay that all "
          "frequencies agree on best, grey where it cannot be told from chance, and its bootstrap interval over "
          "documents. A frequency knows its delay up to T/f: none lies in the grey area, and hollow dots show the "
          "multiple nearest to the line. Dots beyond a panel are left out, and frequencies more than a "
          "tenth beyond the last at which |C(f)| of a head is 1 % of its largest.",
          draw_delay_spectrum};
}

}  // namespace headwave
