#include "wave_spectra_figure.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "../drawing/field_values.h"
#include "../drawing/page.h"

namespace headwave {

namespace {

constexpr double log_from = 8;  // largest over smallest amplitude; beyond, small ones would lie on the axis

struct Curve {
  const char* field;
  const char* title;  ///< in the legend; empty: a null
  Ink ink;
  double width;  ///< keys broad and pale, queries narrow before them: often the two are the same
  const char* dash;
};

/// The nulls first: they lie behind.
const std::array drawn_curves{Curve{"wave_spectra/state_shuffled", "", categorical(2), 1.2, "."},
                              Curve{"wave_spectra/key_shuffled", "", ink::broad, 2, "."},
                              Curve{"wave_spectra/query_shuffled", "", categorical(0), 1, "."},
                              Curve{"wave_spectra/state", "states X", categorical(2), 1.2, "_"},
                              Curve{"wave_spectra/key", "keys K", ink::broad, 4, ""},
                              Curve{"wave_spectra/query", "queries Q", categorical(0), 1.1, ""}};

bool is_null(const Curve& curve) {
  return *curve.title == '\0';
}

struct Spectra {
  std::vector<Index> layers;
  std::vector<double> frequencies;
  std::array<const std::vector<double>*, drawn_curves.size()> amplitudes{};  // (layers, frequencies)
  double length = 0;
};

Spectra spectra_of(const Result& result) {
  Spectra spectra;
  for (std::size_t c = 0; c < drawn_curves.size(); ++c)
    spectra.amplitudes[c] = &doubles_of(result, drawn_curves[c].field, {"layer", "frequency"});
  const Field& field = result.at(drawn_curves[0].field);
  spectra.layers = whole_coordinates(field, "layer");
  spectra.frequencies = coordinates(field, "frequency");
  for (std::size_t c = 0; c < drawn_curves.size(); ++c)
    if (spectra.amplitudes[c]->empty() || spectra.amplitudes[c]->size() != spectra.amplitudes[0]->size())
      throw ShapeError(fmt::format(
          "{}: expected {} layers of {} frequencies, at least one of each, found {} amplitudes", drawn_curves[c].field,
          spectra.layers.size(), spectra.frequencies.size(), spectra.amplitudes[c]->size()));
  const auto length = result.provenance.find("wave_length");
  spectra.length = length != result.provenance.end() && std::holds_alternative<std::int64_t>(length->second)
                       ? static_cast<double>(std::get<std::int64_t>(length->second))
                       : 2 * spectra.frequencies.back();  // the last bin of an even T
  return spectra;
}

/// One range for all panels, so that layers compare.
struct Amplitudes {
  ValueRange range;
  bool logarithmic = false;
  Tics tics;
};

Amplitudes amplitudes_of(const Spectra& spectra) {
  double low = std::numeric_limits<double>::infinity(), high = 0;
  for (const auto* amplitudes : spectra.amplitudes)
    for (std::size_t i = 0; i < amplitudes->size(); ++i)
      if (const double a = (*amplitudes)[i];
          std::isfinite(a) && a > 0 && spectra.frequencies[i % spectra.frequencies.size()] > 0) {
        low = std::min(low, a);
        high = std::max(high, a);
      }
  if (!(high > 0)) return {};
  low = std::max(low, high * 1e-4);
  if (high <= log_from * low) return {{0, 1.07 * high}, false, {}};
  Amplitudes all{{low / 1.2, high * 1.3}, true, {}};
  if (high <= 100 * low) all.tics.named = round_tics(all.range);
  return all;
}

std::vector<LegendEntry> legend_of() {
  std::vector<LegendEntry> entries;
  for (std::size_t c = drawn_curves.size(); c-- > 0;)
    if (!is_null(drawn_curves[c]))
      entries.push_back({drawn_curves[c].title, {drawn_curves[c].ink, drawn_curves[c].width, drawn_curves[c].dash}});
  entries.push_back({"shuffled", {ink::number, 1.2, "."}});
  return entries;
}

PanelGrid wave_grid(std::size_t layers, const std::vector<LegendEntry>& legend, const FigureStyle& style) {
  PanelGrid grid;
  const auto n = static_cast<Index>(layers);
  const Index columns = n <= 3 ? n : n == 4 ? 2 : n <= 9 ? 3 : 4;
  grid.panel_width = n == 1 ? 4.4 : columns <= 3 ? 2.3 : 1.85;
  grid.panel_height = n == 1 ? 2.3 : 1.3;
  grid.gap_x = 0.18;
  grid.gap_y = 0.3;
  grid.left = 0.66;
  grid.right = 0.16;
  grid.top = 0.52;
  return fitted(with_legend_above(flowing(grid, layers, columns), legend, style), layers, 1.2, style);
}

DataTable table_of(const Spectra& spectra, std::size_t layer) {
  DataTable table({"layer", "frequency", "state_shuffled", "key_shuffled", "query_shuffled", "state", "key", "query"});
  for (std::size_t f = 0; f < spectra.frequencies.size(); ++f) {
    if (!(spectra.frequencies[f] > 0)) continue;
    std::vector<Cell> cells{spectra.layers[layer], spectra.frequencies[f]};
    for (const auto* amplitudes : spectra.amplitudes)
      cells.emplace_back((*amplitudes)[layer * spectra.frequencies.size() + f]);
    table.add_row(std::move(cells));
  }
  return table;
}

void add_panel(Page& page, const Spectra& spectra, const Amplitudes& amplitudes, std::size_t layer) {
  const PanelGrid& grid = page.grid();
  Panel& panel = page.panel(layer);
  panel.x_axis({0, std::max(1.0, spectra.frequencies.back())},
               {.step = std::max(1.0, tic_step(1.6 * spectra.frequencies.back())),
                .numbers = grid.is_lowest(layer, spectra.layers.size()) ? Numbers::plain : Numbers::none});
  Tics tics = amplitudes.tics;
  tics.numbers = grid.column_of(layer) == 0 ? Numbers::plain : Numbers::none;
  if (grid.column_of(layer) > 0)
    for (Tic& tic : tics.named) tic.name.clear();
  panel.y_axis(amplitudes.range, tics);
  if (amplitudes.logarithmic) panel.y_logarithmic();
  if (layer == 0) page.title_below(fmt::format("frequency f (cycles/T, T = {:g})", spectra.length), 0.13);
  if (layer == 0) page.title_left("largest amplitude |DFT|", 0.14);
  panel.above(fmt::format("layer {}", spectra.layers[layer]), Anchor::left, {.points = 7.5, .bold = true, .up = 0.5});
  const std::string file = page.numbers(table_of(spectra, layer));
  for (std::size_t c = 0; c < drawn_curves.size(); ++c)
    panel.curve(file, fmt::format("2:{}", c + 3), {drawn_curves[c].ink, drawn_curves[c].width, drawn_curves[c].dash});
}

GnuplotFigure draw_wave_spectra(const Result& result, const FigureOptions& options) {
  const Spectra spectra = spectra_of(result);
  const Amplitudes amplitudes = amplitudes_of(spectra);
  const auto legend = legend_of();
  Page page(wave_grid(spectra.layers.size(), legend, options.style), options.style);
  page.legend(legend);
  for (std::size_t layer = 0; layer < spectra.layers.size(); ++layer) add_panel(page, spectra, amplitudes, layer);
  return page.figure();
}

}  // namespace

FigureKind wave_spectra_figure() {
  return {"wave_spectra",
          {"wave_spectra/query", "wave_spectra/key", "wave_spectra/state", "wave_spectra/query_shuffled",
           "wave_spectra/key_shuffled", "wave_spectra/state_shuffled"},
          {},
          "Largest amplitude of redefined queries and keys over a layer's heads and columns, and of the hidden states "
          "that enter the layer over their columns: absolute discrete Fourier transform over positions, not "
          "normalised, mean over documents; all are expected maxima over one number of columns. Dotted: the same with "
          "the positions in another order. Where queries and keys agree, the thin line of the queries lies on the "
          "broad one of "
          "the keys. All panels have one scale, where it is logarithmic four decades at most. Frequency 0 is left out.",
          draw_wave_spectra};
}

}  // namespace headwave
