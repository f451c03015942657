#include "spectrum_figure.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "../../core/errors/error.h"
#include "../../core/fields/field_reader.h"
#include "../drawing/page.h"
#include "../drawing/visible_text.h"
#include "kinds.h"

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
        "spectrum: expected mean and quartiles for each of {} frequencies (at least 2, ascending), found {}, {} and {} "
        "of positions, {}, {} and {} of words",
        n, spectrum.positions.mean.size(), spectrum.positions.lower.size(), spectrum.positions.upper.size(),
        spectrum.words.mean.size(), spectrum.words.lower.size(), spectrum.words.upper.size()));
}

double at(const std::vector<double>& values, std::size_t i) {
  return i < values.size() ? values[i] : std::nan("");
}

DataTable spectrum_numbers(const LabelledSpectrum& spectrum) {
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

/// A range that shows every mean and the bands as far as four decades below the top.
ValueRange range_of(const LabelledSpectrum& spectrum) {
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
  if (!(high > 0)) return {1e-3, 1.0};
  return {std::max(low, high * 1e-4) / 1.25, high * 1.6};
}

/// A curve and the band around it, nothing below the axis.
void add_curve(Panel& panel, const std::string& file, Index column, double floor, const Line& line, const Ink& band,
               const char* name, bool with_band) {
  const auto clipped = [&](Index c) { return fmt::format("(${0}>{1}?${0}:{1})", c, floor); };
  if (with_band) panel.band(file, fmt::format("2:{}:{}", clipped(column + 1), clipped(column + 2)), band, 0.22);
  panel.curve(file, fmt::format("2:{}", clipped(column)), line, name);
}

/// Periods worth naming above the panel, as far apart as their numbers need.
std::vector<Tic> period_tics(double length, double highest, double width) {
  std::vector<Tic> tics;
  double last = std::numeric_limits<double>::infinity();
  for (const double period : {2, 3, 4, 5, 6, 8, 12, 16, 32, 64}) {
    const double f = length / period;
    if (f > highest * 1.0001 || (last - f) * width / highest < 0.24) continue;
    tics.push_back({f, fmt::format("{:g}", period)});
    last = f;
  }
  return tics;
}

/// Two panels a row; where all would not fit on a page they are flatter.
PanelFlow spectrum_flow(std::size_t panels, bool named, const FigureStyle& style) {
  PanelFlow flow{.grid = {.panel = {panels == 1 ? 4.4 : 2.9, panels == 1 ? 2.3 : 1.7},
                          .gap = {0.75, named ? 1.46 : 1.3},
                          .margin = {.left = 0.66, .right = 0.16, .top = named ? 0.88 : 0.7}},
                 .in_row = 2,
                 .least = 2.2};
  const PanelGrid grid = grid_of(flow, panels, style);
  const double over = (grid.height() - layout_height(style)) / static_cast<double>(grid.rows);
  if (over > 0) flow.grid.panel.height = std::max(0.8, flow.grid.panel.height - over);
  return flow;
}

void add_panel(Page& page, Panel& panel, const LabelledSpectrum& spectrum, std::size_t k) {
  const PanelGrid& grid = page.grid();
  const ValueRange range = range_of(spectrum);
  const double highest = spectrum.frequency.back();
  // Above the panel, from below: periods, their name, the legend, the model.
  const double top = grid.panel_bottom(grid.row_of(k)) + grid.panel.height;
  panel.title_below(fmt::format("frequency f (cycles/T, T = {:g})", spectrum.length));
  panel.title_left("amplitude |DFT|, mean and quartiles", 0.48);
  panel.note("period T/f (tokens)", panel.over(panel.width() / 2, 0.33), {.anchor = Anchor::center});
  panel.legend_over(top + 0.54);
  panel.x_axis({0, highest});
  panel.y_axis(range, {.numbers = Numbers::plain});
  panel.y_logarithmic();
  panel.upper_axis(period_tics(spectrum.length, highest, grid.panel.width));

  const std::string file = page.numbers(spectrum_numbers(spectrum));
  if (!spectrum.words.mean.empty())
    add_curve(panel, file, 7, range.low, {ink::chance, 1.6, "-"}, ink::reference, "words",
              !spectrum.words.lower.empty());
  add_curve(panel, file, 4, range.low, categorical_line(0), categorical(0), "positions",
            !spectrum.positions.lower.empty());
  if (!spectrum.label.empty()) {
    DataTable label({"x", "y", "label"});
    label.add_row({0.0, range.high, shortened(visible_text(spectrum.label), 44)});
    panel.texts(page.data(label), "1:2:3", {.points = 8, .bold = true, .up_share = 0.76 / grid.panel.height});
  }
}

GnuplotFigure draw_position_spectrum(const Result& result, const FigureOptions& options) {
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
  spectrum.length = attribute_number(mean.attributes, "T", 2 * spectrum.frequency.back());  // the last bin of an even T
  return spectra_figure({spectrum}, options.style);
}

}  // namespace

GnuplotFigure spectra_figure(const std::vector<LabelledSpectrum>& spectra, const FigureStyle& style) {
  if (spectra.empty()) throw ShapeError("spectra: expected at least one spectrum to draw, none came");
  for (const LabelledSpectrum& spectrum : spectra) check(spectrum);
  const bool named =
      std::any_of(spectra.begin(), spectra.end(), [](const auto& spectrum) { return !spectrum.label.empty(); });
  return drawn_panels(spectrum_flow(spectra.size(), named, style), spectra.size(), style,
                      [&](Page& page, Panel& panel, std::size_t s) { add_panel(page, panel, spectra[s], s); });
}

std::string spectra_caption(const std::vector<LabelledSpectrum>& spectra) {
  std::string names;
  for (const LabelledSpectrum& spectrum : spectra)
    names += (names.empty() ? "" : ", ") + shortened(visible_text(spectrum.label), 44);
  return fmt::format("{} Models: {}.", position_spectrum_figure().caption, names);
}

FigureKind position_spectrum_figure() {
  return {
      .name = "position_spectrum",
      .fields = {"position_spectrum/mean", "position_spectrum/lower_quartile", "position_spectrum/upper_quartile"},
      .extras = {"position_spectrum/word_mean", "position_spectrum/word_lower_quartile",
                 "position_spectrum/word_upper_quartile"},
      .caption =
          "Amplitude spectrum of the position embedding: absolute discrete Fourier transform of each column over "
          "positions, mean over columns and band between their quartiles. A mean above its band comes from few columns "
          "with large "
          "amplitudes. The axis shows four decades at most. Words, where shown, are the embeddings of a text's tokens "
          "in the same transform. Frequency 0 is left out.",
      .drawing = draw_position_spectrum};
}

}  // namespace headwave
