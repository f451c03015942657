#include "wave_spectra_figure.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "../drawing/field_values.h"
#include "../drawing/palette.h"
#include "../drawing/panels.h"

namespace headwave {

namespace {

constexpr double log_from = 8;  // largest over smallest amplitude; beyond, small ones would lie on the axis

struct Curve {
  const char* field;
  const char* title;  ///< in the legend; empty: a null
  int color;
  double width;  ///< keys broad, queries narrow before them: often the two are the same
};

/// The nulls first: they lie behind.
constexpr std::array curves{
    Curve{"wave_spectra/state_shuffled", "", 2, 1.2}, Curve{"wave_spectra/key_shuffled", "", 1, 1.2},
    Curve{"wave_spectra/query_shuffled", "", 0, 1.2}, Curve{"wave_spectra/state", "states X", 2, 1.2},
    Curve{"wave_spectra/key", "keys K", 1, 2.2},      Curve{"wave_spectra/query", "queries Q", 0, 1.1}};

bool is_null(const Curve& curve) {
  return *curve.title == '\0';
}

struct Spectra {
  std::vector<Index> layers;
  std::vector<double> frequencies;
  std::array<const std::vector<double>*, curves.size()> amplitudes{};  // (layers, frequencies)
  double length = 0;
};

Spectra spectra_of(const Result& result) {
  Spectra spectra;
  for (std::size_t c = 0; c < curves.size(); ++c)
    spectra.amplitudes[c] = &doubles_of(result, curves[c].field, {"layer", "frequency"});
  const Field& field = result.at(curves[0].field);
  spectra.layers = whole_coordinates(field, "layer");
  spectra.frequencies = coordinates(field, "frequency");
  for (std::size_t c = 0; c < curves.size(); ++c)
    if (spectra.amplitudes[c]->empty() || spectra.amplitudes[c]->size() != spectra.amplitudes[0]->size())
      throw ShapeError(fmt::format(
          "{}: expected {} layers of {} frequencies, at least one of each, found {} amplitudes", curves[c].field,
          spectra.layers.size(), spectra.frequencies.size(), spectra.amplitudes[c]->size()));
  const auto length = result.provenance.find("wave_length");
  spectra.length = length != result.provenance.end() && std::holds_alternative<std::int64_t>(length->second)
                       ? static_cast<double>(std::get<std::int64_t>(length->second))
                       : 2 * spectra.frequencies.back();  // the last bin of an even T
  return spectra;
}

/// One range for all panels, so that layers compare.
std::string range(const Spectra& spectra) {
  double low = std::numeric_limits<double>::infinity(), high = 0;
  for (const auto* amplitudes : spectra.amplitudes)
    for (std::size_t i = 0; i < amplitudes->size(); ++i)
      if (const double a = (*amplitudes)[i];
          std::isfinite(a) && a > 0 && spectra.frequencies[i % spectra.frequencies.size()] > 0) {
        low = std::min(low, a);
        high = std::max(high, a);
      }
  if (!(high > 0)) return "set yrange [0:1]";
  low = std::max(low, high * 1e-4);
  if (high <= log_from * low) return fmt::format("set yrange [0:{}]", 1.07 * high);
  const std::string log_scale = fmt::format("set logscale y\nset yrange [{}:{}]\nset ytics ", low / 1.2, high * 1.3);
  if (high > 100 * low) return log_scale + "autofreq";
  std::string list;
  for (double power = std::pow(10, std::floor(std::log10(low))); power <= high; power *= 10)
    for (const double digit : {1, 2, 5}) list += fmt::format("{}{:g}", list.empty() ? "" : ", ", digit * power);
  return log_scale + "(" + list + ")";
}

PanelGrid grid_of(std::size_t layers) {
  PanelGrid grid;
  const auto n = static_cast<Index>(layers);
  grid.columns = n <= 3 ? n : n == 4 ? 2 : n <= 9 ? 3 : 4;
  grid.rows = (n + grid.columns - 1) / grid.columns;
  grid.panel_width = n == 1 ? 4.4 : grid.columns <= 3 ? 2.3 : 1.85;
  grid.panel_height = n == 1 ? 2.3 : 1.3;
  grid.gap_x = 0.18;
  grid.gap_y = 0.3;
  grid.left = 0.66;
  grid.right = 0.16;
  grid.top = 0.52;
  return grid;
}

std::vector<LegendEntry> legend() {
  std::vector<LegendEntry> entries;
  for (std::size_t c = curves.size(); c-- > 0;)
    if (!is_null(curves[c]))
      entries.push_back(
          {curves[c].title, fmt::format("lc rgb \"{}\" lw {}", categorical_color(curves[c].color), curves[c].width)});
  entries.push_back({"shuffled", "lc rgb \"#606060\" lw 1.2 dt \"-\""});
  return entries;
}

std::string plot_of(const std::string& file) {
  std::string plot;
  for (std::size_t c = 0; c < curves.size(); ++c)
    plot +=
        fmt::format("{}\"{}\" using 2:{} with lines lc rgb \"{}\" lw {} dt {} notitle", c == 0 ? "plot " : ", ", file,
                    c + 3, categorical_color(curves[c].color), curves[c].width, is_null(curves[c]) ? "\"-\"" : "solid");
  return plot;
}

}  // namespace

GnuplotFigure wave_spectra_figure(const Result& result, const FigureOptions& /*options*/) {
  const Spectra spectra = spectra_of(result);
  const PanelGrid grid = grid_of(spectra.layers.size());
  GnuplotFigure figure(grid.width(), grid.height());
  figure.add("set multiplot\n" + legend_above(grid, legend()));
  figure.add(house_style());
  figure.add(range(spectra));
  figure.add(fmt::format("set xrange [0:{}]", std::max(1.0, spectra.frequencies.back())));
  figure.add(fmt::format("set label 91 \"frequency f (cycles/T, T = {:g})\" at {} center", spectra.length,
                         grid.page((grid.left + grid.width() - grid.right) / 2, 0.13)));
  figure.add(fmt::format("set label 92 \"largest amplitude |DFT|\" at {} center rotate by 90",
                         grid.page(0.14, (grid.bottom + grid.height() - grid.top) / 2)));
  for (std::size_t layer = 0; layer < spectra.layers.size(); ++layer) {
    const auto row = static_cast<Index>(layer) / grid.columns, column = static_cast<Index>(layer) % grid.columns;
    DataTable table(
        {"layer", "frequency", "state_shuffled", "key_shuffled", "query_shuffled", "state", "key", "query"});
    for (std::size_t f = 0; f < spectra.frequencies.size(); ++f) {
      if (!(spectra.frequencies[f] > 0)) continue;
      const std::size_t i = layer * spectra.frequencies.size() + f;
      std::vector<Cell> cells{spectra.layers[layer], spectra.frequencies[f]};
      for (const auto* amplitudes : spectra.amplitudes) cells.emplace_back((*amplitudes)[i]);
      table.add_row(std::move(cells));
    }
    figure.add(grid.place(row, column));
    figure.add(column == 0 ? "set format y \"%g\"" : "set format y \"\"");
    const bool lowest = static_cast<Index>(layer) + grid.columns >= static_cast<Index>(spectra.layers.size());
    figure.add(lowest ? "set format x \"%g\"" : "set format x \"\"");
    figure.add(
        fmt::format("set label 93 \"layer {}\" at graph 0, graph 1 left offset 0,0.5 font \"sans-serif:Bold,7.5\"",
                    spectra.layers[layer]));
    figure.add(plot_of(figure.add_numbers(table)));
    figure.add("unset label 91\nunset label 92");  // the page's own titles, drawn with the first panel
  }
  figure.add("unset multiplot");
  return figure;
}

}  // namespace headwave
