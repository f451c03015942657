#include "spectrum_figure.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "../drawing/field_values.h"
#include "../drawing/palette.h"
#include "../drawing/panels.h"
#include "../drawing/visible_text.h"

namespace headwave {

namespace {

void check(const LabelledSpectrum& spectrum) {
  const std::size_t n = spectrum.frequency.size();
  const auto fits = [n](const SpectrumCurve& curve) {
    const bool band = curve.lower.size() == n && curve.upper.size() == n;
    return curve.mean.size() == n && (band || (curve.lower.empty() && curve.upper.empty()));
  };
  if (n < 2 || !(spectrum.frequency.back() > 0) || !fits(spectrum.positions) ||
      !(spectrum.words.mean.empty() || fits(spectrum.words)))
    throw ShapeError(fmt::format(
        "spectrum: expected mean and quartiles for each of {} frequencies (at least 2, ascending), found {} means", n,
        spectrum.positions.mean.size()));
}

double at(const std::vector<double>& values, std::size_t i) {
  return i < values.size() ? values[i] : std::nan("");
}

DataTable table_of(const LabelledSpectrum& spectrum) {
  DataTable table({"label", "frequency", "period", "mean", "lower_quartile", "upper_quartile", "word_mean",
                   "word_lower_quartile", "word_upper_quartile"});
  for (std::size_t i = 0; i < spectrum.frequency.size(); ++i) {
    const double f = spectrum.frequency[i];
    if (!(f > 0)) continue;
    table.add_row({spectrum.label, f, spectrum.length / f, at(spectrum.positions.mean, i),
                   at(spectrum.positions.lower, i), at(spectrum.positions.upper, i), at(spectrum.words.mean, i),
                   at(spectrum.words.lower, i), at(spectrum.words.upper, i)});
  }
  return table;
}

struct Range {
  double low = 1e-3;
  double high = 1.0;
};

/// A range that shows every mean and the bands as far as four decades below the top.
Range range_of(const LabelledSpectrum& spectrum) {
  double low = std::numeric_limits<double>::infinity();
  double high = 0.0;
  const auto look = [&](const std::vector<double>& values) {
    for (std::size_t i = 0; i < values.size(); ++i)
      if (spectrum.frequency[i] > 0 && std::isfinite(values[i]) && values[i] > 0) {
        low = std::min(low, values[i]);
        high = std::max(high, values[i]);
      }
  };
  for (const SpectrumCurve* curve : {&spectrum.positions, &spectrum.words})
    for (const auto* values : {&curve->mean, &curve->lower, &curve->upper}) look(*values);
  if (!(high > 0)) return {};
  return {std::max(low, high * 1e-4) / 1.25, high * 1.6};
}

std::string curve(const std::string& file, Index column, double floor, const std::string& style,
                  const std::string& color, const char* title, bool band) {
  const auto clipped = [&](Index c) { return fmt::format("(${0}>{1}?${0}:{1})", c, floor); };
  std::string plot;
  if (band)
    plot =
        fmt::format("\"{}\" using 2:{}:{} with filledcurves lc rgb \"{}\" fs transparent solid 0.22 noborder notitle, ",
                    file, clipped(column + 1), clipped(column + 2), color);
  return plot + fmt::format("\"{}\" using 2:{} with lines {} title \"{}\"", file, clipped(column), style, title);
}

/// Periods worth naming above the panel, as far apart as their numbers need.
std::string period_tics(double length, double highest, double width) {
  std::string list;
  double last = std::numeric_limits<double>::infinity();
  for (const double period : {2, 3, 4, 5, 6, 8, 12, 16, 32, 64}) {
    const double f = length / period;
    if (f > highest * 1.0001 || (last - f) * width / highest < 0.24) continue;
    list += fmt::format("{}\"{:g}\" {}", list.empty() ? "" : ", ", period, f);
    last = f;
  }
  return "(" + list + ")";
}

PanelGrid grid_of(std::size_t panels, bool named) {
  PanelGrid grid;
  grid.columns = panels == 1 ? 1 : 2;
  grid.rows = (static_cast<Index>(panels) + grid.columns - 1) / grid.columns;
  grid.panel_width = panels == 1 ? 4.4 : 2.9;
  grid.panel_height = panels == 1 ? 2.3 : 1.7;
  grid.gap_x = 0.75;
  grid.gap_y = named ? 1.46 : 1.3;
  grid.left = 0.66;
  grid.right = 0.16;
  grid.top = named ? 0.88 : 0.7;
  return grid;
}

void add_panel(GnuplotFigure& figure, const PanelGrid& grid, const LabelledSpectrum& spectrum, Index row,
               Index column) {
  const Range range = range_of(spectrum);
  const double highest = spectrum.frequency.back();
  figure.add(grid.place(row, column));
  figure.add(grid.title_below(row, column, fmt::format("frequency f (cycles/T, T = {:g})", spectrum.length)));
  figure.add(grid.title_left(row, column, "amplitude |DFT|", 0.48));
  // Above the panel, from below: periods, their name, the legend, the model.
  const double top = grid.panel_bottom(row) + grid.panel_height;
  figure.add(fmt::format("set label 93 \"period T/f (tokens)\" at {} center",
                         grid.page(grid.panel_left(column) + grid.panel_width / 2, top + 0.33)));
  figure.add(fmt::format("set key at graph 1, screen {:.6f} right center", (top + 0.54) / grid.height()));
  figure.add(fmt::format("set xrange [0:{}]\nset yrange [{}:{}]", highest, range.low, range.high));
  figure.add("set x2tics " + period_tics(spectrum.length, highest, grid.panel_width));

  const std::string file = figure.add_numbers(table_of(spectrum));
  std::string plot = "plot ";
  if (!spectrum.words.mean.empty())
    plot += curve(file, 7, range.low, "lc rgb \"#707070\" lw 1.6 dt \"-\"", "#909090", "words",
                  !spectrum.words.lower.empty()) +
            ", ";
  plot +=
      curve(file, 4, range.low, line_style(0), categorical_color(0), "positions", !spectrum.positions.lower.empty());
  if (!spectrum.label.empty()) {
    DataTable label({"x", "y", "label"});
    label.add_row({0.0, range.high, shortened(visible_text(spectrum.label), 44)});
    plot +=
        fmt::format(", \"{}\" using 1:2:3 with labels left offset 0,graph {:.4f} font \"sans-serif:Bold,8\" notitle",
                    figure.add_data(label), 0.76 / grid.panel_height);
  }
  figure.add(plot);
}

}  // namespace

GnuplotFigure spectra_figure(const std::vector<LabelledSpectrum>& spectra) {
  if (spectra.empty()) throw ShapeError("spectra: expected at least one spectrum to draw, none came");
  for (const LabelledSpectrum& spectrum : spectra) check(spectrum);
  const bool named =
      std::any_of(spectra.begin(), spectra.end(), [](const auto& spectrum) { return !spectrum.label.empty(); });
  const PanelGrid grid = grid_of(spectra.size(), named);
  GnuplotFigure figure(grid.width(), grid.height());
  figure.add(house_style());
  figure.add("set multiplot\nset logscale y\nset format y \"%g\"\nset link x2\nset x2tics out offset 0,-0.3");
  figure.add("set key horizontal samplen 2.4 width 1");
  for (std::size_t s = 0; s < spectra.size(); ++s)
    add_panel(figure, grid, spectra[s], static_cast<Index>(s) / grid.columns, static_cast<Index>(s) % grid.columns);
  figure.add("unset multiplot");
  return figure;
}

GnuplotFigure position_spectrum_figure(const Result& result, const FigureOptions& /*options*/) {
  const auto numbers = [&](const std::string& quantity) {
    return doubles_of(result, "position_spectrum/" + quantity, {"frequency"});
  };
  const auto known = [&](const std::string& quantity) {
    return result.find("position_spectrum/" + quantity) != nullptr ? numbers(quantity) : std::vector<double>{};
  };
  LabelledSpectrum spectrum;
  const Field& mean = result.at("position_spectrum/mean");
  spectrum.frequency = coordinates(mean, "frequency");
  spectrum.positions = {numbers("mean"), numbers("lower_quartile"), numbers("upper_quartile")};
  spectrum.words = {known("word_mean"), known("word_lower_quartile"), known("word_upper_quartile")};
  if (const auto length = mean.attributes.find("T");
      length != mean.attributes.end() && std::holds_alternative<std::int64_t>(length->second))
    spectrum.length = static_cast<double>(std::get<std::int64_t>(length->second));
  else if (!spectrum.frequency.empty())
    spectrum.length = 2 * spectrum.frequency.back();  // the last bin of an even T
  return spectra_figure({spectrum});
}

}  // namespace headwave
