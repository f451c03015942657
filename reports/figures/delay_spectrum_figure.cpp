#include "delay_spectrum_figure.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "../drawing/panels.h"
#include "cluster_peaks.h"
#include "delay_curves.h"

namespace headwave {

namespace {

constexpr const char* vermillion = "#D55E00";
constexpr const char* green = "#009E73";
constexpr const char* pale = "#F5D3BC";
constexpr const char* shade = "#C8707070";  // lets the band show through
constexpr const char* shade_on_white = "#E0E0E0";
constexpr double largest_dot = 1.5;  // gnuplot's point size of the largest |C(f)|
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

PanelGrid grid_of(std::size_t heads) {
  PanelGrid grid;
  grid.columns = heads == 1 ? 1 : 2;
  grid.rows = (static_cast<Index>(heads) + grid.columns - 1) / grid.columns;
  grid.panel_width = heads == 1 ? 4.2 : 2.75;
  grid.panel_height = heads == 1 ? 2.2 : 1.55;
  grid.gap_x = 0.6;
  grid.gap_y = 0.44;
  grid.left = 0.6;
  grid.top = 0.72;
  grid.bottom = 0.52;
  return grid;
}

/// Two lines above all panels that say what the marks are.
std::string legend(const PanelGrid& grid, double coverage) {
  const double x = grid.left, y = grid.height() - 0.14, low = y - 0.2;
  const std::string font = "font \"sans-serif,6.5\"";
  std::string commands;
  const auto text = [&](double at, double height, const std::string& words) {
    commands += fmt::format("set label \"{}\" at {} left {}\n", words, grid.page(x + at, height), font);
  };
  const auto dot = [&](double at, double size, int type) {
    commands += fmt::format("set label \"\" at {} point pt {} ps {:.3f} lc rgb \"#0072B2\"\n", grid.page(x + at, y),
                            type, size);
  };
  const auto line = [&](double at, const char* color, const char* dash, double width) {
    commands += fmt::format("set arrow from {} to {} nohead lc rgb \"{}\" dt {} lw {}\n", grid.page(x + at, low),
                            grid.page(x + at + 0.26, low), color, dash, width);
  };
  const auto box = [&](double at, const char* color) {
    commands += fmt::format("set object rectangle from {} to {} fc rgb \"{}\" fs solid noborder\n",
                            grid.page(x + at, low - 0.05), grid.page(x + at + 0.26, low + 0.05), color);
  };
  dot(0.05, largest_dot, 7);
  text(0.15, y, "100 %");
  dot(0.53, largest_dot * std::sqrt(0.1), 7);
  text(0.6, y, "10 %");
  dot(0.92, largest_dot * std::sqrt(0.01), 7);
  text(0.98, y, "1 % of the head's largest |C(f)|");
  dot(2.62, largest_dot * std::sqrt(0.3), 6);
  text(2.73, y, "t(f) moved by multiples of T/f");
  box(0, pale);
  line(0, vermillion, "solid", 1.6);
  text(0.32, low,
       coverage > 0 ? fmt::format("fitted delay, {:g} % interval", 100 * coverage) : "fitted delay, interval");
  line(1.78, green, "\"-\"", 1.6);
  text(2.1, low, "measured offset");
  box(3.02, shade_on_white);
  text(3.34, low, "beyond ±T/(2f)");
  return commands;
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

void add_panel(GnuplotFigure& figure, const PanelGrid& grid, const DelayCurves& curves, std::size_t k) {
  const DelayCurve& curve = curves.heads[k];
  const auto row = static_cast<Index>(k) / grid.columns;
  const auto column = static_cast<Index>(k) % grid.columns;
  const double reach = reach_of(curve);
  const double y = grid.panel_bottom(row) + grid.panel_height + 0.12;
  figure.add(grid.place(row, column));
  figure.add(fmt::format("set label \"{}\" at {} left font \"sans-serif:Bold,8\"",
                         head_name(curve.head.name.layer, curve.head.name.head),
                         grid.page(grid.panel_left(column), y)));
  figure.add(fmt::format("set label \"{}\" at {} right font \"sans-serif,6.5\"", title(curve),
                         grid.page(grid.panel_left(column) + grid.panel_width, y)));
  if (column == 0) figure.add(grid.title_left(row, column, "delay t (tokens)", 0.44));
  const bool lowest = k + static_cast<std::size_t>(grid.columns) >= curves.heads.size();
  if (lowest)
    figure.add(grid.title_below(row, column, fmt::format("frequency f (cycles/T, T = {:g})", curves.span.length)));
  figure.add(fmt::format("set format x \"{}\"\nset yrange [{}:{}]\nset ytics {}", lowest ? "%g" : "", -reach, reach,
                         tic_step(2 * reach)));
  const std::string bound = figure.add_data(bound_of(curves, reach));
  const std::string dots = figure.add_numbers(numbers_of(curve, curves));
  const std::string lines = figure.add_data(across(curve, curves, reach));
  std::string plot = "plot ";
  if (curve.lower < curve.upper)
    plot += fmt::format("\"{}\" using 1:3:4 with filledcurves fc rgb \"{}\", ", lines, pale);
  plot += fmt::format(
      "\"{0}\" using 1:2 with filledcurves y1={1} fc rgb \"{2}\", \"{0}\" using 1:(-$2) with filledcurves y1=-{1} "
      "fc rgb \"{2}\"",
      bound, reach, shade);
  if (std::abs(curve.estimate) <= reach)
    plot +=
        fmt::format(", \"{}\" using 1:2 with lines lw 1.6 lc rgb \"{}\"", lines, curve.told() ? vermillion : "#707070");
  if (std::abs(curve.head.measured) <= reach)
    plot += fmt::format(", \"{}\" using 1:5 with lines lw 1.6 dt \"-\" lc rgb \"{}\"", lines, green);
  figure.add(plot +
             fmt::format(", \"{0}\" using 3:(abs($5-$4)>1e-9 && abs($5)<={1} && $6>{2}?$5:NaN):7 with points pt 6 ps "
                         "variable lw 0.8 lc rgb \"#400072B2\", "
                         "\"{0}\" using 3:(abs($4)<={1}?$4:NaN):7 with points pt 7 ps variable lc rgb \"#300072B2\"",
                         dots, reach, 0.01 * curve.largest));
  figure.add("unset label\nunset arrow\nunset object");
}

}  // namespace

GnuplotFigure delay_spectrum_figure(const Result& result, const FigureOptions& options) {
  const DelayCurves curves = delay_curves(result, options);
  const PanelGrid grid = grid_of(curves.heads.size());
  GnuplotFigure figure(grid.width(), grid.height());
  figure.add(house_style());
  const auto last = static_cast<double>(curves.last);
  figure.add(fmt::format("set multiplot\nset xrange [{}:{}]\nset xtics {}", -0.02 * last, last + 0.5, tic_step(last)));
  figure.add(legend(grid, curves.coverage));  // goes with the first panel
  for (std::size_t k = 0; k < curves.heads.size(); ++k) add_panel(figure, grid, curves, k);
  figure.add("unset multiplot");
  return figure;
}

}  // namespace headwave
