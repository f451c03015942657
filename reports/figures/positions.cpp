// The position table, its spectrum, and how much of the positions remains in hidden states.
#include "positions.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "../../core/errors/error.h"
#include "../../core/fields/field_reader.h"
#include "../drawing/visible_text.h"
#include "figures.h"

namespace headwave {

namespace {

const Line position_line = categorical_line(0), word_line{ink::chance, 1.6, "-"};

/// A range for all means and bands, reaching at most four decades below the largest value.
ValueRange range_of(const LabelledSpectrum& spectrum) {
  const std::size_t first = spectrum.frequency.front() > 0 ? 0 : 1;
  std::vector<double> all;
  for (const SpectrumCurve* curve : {&spectrum.positions, &spectrum.words})
    for (const auto* values : {&curve->mean, &curve->lower, &curve->upper})
      for (std::size_t i = first; i < values->size(); ++i) all.push_back((*values)[i]);
  const auto [low, high] = positive_range(all);
  return high > 0 ? ValueRange{std::max(low, high * 1e-4) / 1.25, high * 1.6} : ValueRange{1e-3, 1.0};
}

/// Draws a curve and its band without frequency 0; values below the axis are raised to its edge.
void add_spectrum(Panel& panel, const LabelledSpectrum& spectrum, const SpectrumCurve& curve, const Line& line,
                  const Ink& band) {
  const std::size_t first = spectrum.frequency.front() > 0 ? 0 : 1;
  const auto clipped = [&](std::vector<double> values) {
    values.erase(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(std::min(first, values.size())));
    for (double& one : values)
      if (one < panel.y.range.low) one = panel.y.range.low;
    return values;
  };
  const auto frequencies = std::span(spectrum.frequency).subspan(first);
  panel.band(frequencies, clipped(curve.lower), clipped(curve.upper), band, 0.22);
  panel.curve(frequencies, clipped(curve.mean), line);
}

/// Periods to write above the panel, as far apart as their numbers need.
std::vector<Tic> period_tics(double length, double highest, double width) {
  std::vector<Tic> tics;
  double last = HUGE_VAL;
  for (const double period : {2, 3, 4, 5, 6, 8, 12, 16, 32, 64}) {
    const double f = length / period;
    if (f > highest * 1.0001 || (last - f) * width / highest < 0.24) continue;
    tics.push_back({f, fmt::format("{:g}", period)});
    last = f;
  }
  return tics;
}

Figure draw_position_spectrum(const Result& result, const FigureOptions& options) {
  const auto known = [&](const std::string& quantity) {
    const std::string name = "position_spectrum/" + quantity;
    return result.find(name) != nullptr ? doubles_of(result, name, {"frequency"}) : std::vector<double>{};
  };
  const Field& mean = result.at("position_spectrum/mean");
  const auto frequency = coordinates(mean, "frequency");
  return spectra_figure({{.label = {},
                          .frequency = frequency,
                          .length = attribute_number(mean.attributes, "T", 2 * frequency.back()),  // of an even T
                          .positions = {known("mean"), known("lower_quartile"), known("upper_quartile")},
                          .words = {known("word_mean"), known("word_lower_quartile"), known("word_upper_quartile")}}},
                        options.width);
}

constexpr const char *components_name = "position_components/cumulative_share",
                     *canonical_name = "position_correlation/correlation",
                     *canonical_mean_name = "position_correlation/chance_mean",
                     *canonical_largest_name = "position_correlation/chance_largest";

Figure draw_position_components(const Result& result, const FigureOptions& options) {
  std::vector<double> percent = doubles_of(result, components_name, {"component"});
  for (double& share : percent) share *= 100;
  const auto counts = coordinates(result.at(components_name), "component");
  if (!(counts.front() > 0)) throw ShapeError(fmt::format("{}: contains no component to draw", components_name));
  const ValueRange shown{counts.front() / 1.06, std::max(counts.back(), 2 * counts.front()) * 1.04};
  FigurePanels panels{.grid = {.panel = {4.4, 2.3}, .margin = {.right = 0.2, .top = 0.12}},
                      .x = {.range = shown,
                            .tics = {.numbers = Numbers::plain},
                            .log = 2,
                            .title = "number of principal components, largest first"},
                      .y = {.range = {0, 102},
                            .tics = {.step = 20, .numbers = Numbers::plain},
                            .title = "cumulative share of variance (%)"}};
  panels.fill = [&](Panel& panel, std::size_t) {
    panel.curve(counts, percent, categorical_line(0));
    for (std::size_t i = 0; i < counts.size(); ++i) {
      if ((counts[i] != 4 && counts[i] != 12) || !(percent[i] >= 0 && percent[i] <= 101)) continue;
      panel.mark({value(counts[i]), value(percent[i])}, 0.45);
      panel.note(fmt::format("{:g} components: {:.1f} %", counts[i], percent[i]),
                 {share(0.98), share(counts[i] == 4 ? 0.18 : 0.07)},
                 {.ink = ink::mark, .anchor = Anchor::right, .front = true});
    }
  };
  return drawn_panels(panels, 1, options.width);
}

Figure draw_position_correlation(const Result& result, const FigureOptions& options) {
  constexpr Index most_steps = 128;  // of the colours
  const Field& field = result.at(canonical_name);
  const auto& found = doubles_of(result, canonical_name, {"layer", "truncation", "component"});
  const auto& mean = doubles_of(result, canonical_mean_name, {"layer", "truncation", "component"});
  const auto& largest = doubles_of(result, canonical_largest_name, {"layer", "truncation", "component"});
  const auto layers = whole_coordinates(field, "layer"), truncations = whole_coordinates(field, "truncation");
  const auto components = coordinates(field, "component");
  const auto [first, last] = std::ranges::minmax(layers);
  const Index span = last - first;
  FigurePanels panels{
      .grid = {.panel = {1.95, 1.9}, .gap = {0.22, 0.85}, .margin = {.left = 0.62, .right = 0.62, .top = 0.28}},
      .in_row = 4,
      .least = 1.3,
      .x = {.title = "canonical component"},
      .y = {.range = {0, 1.03}, .tics = {.step = 0.2}, .common = true, .title = "canonical correlation", .away = 0.45},
      .color_steps = static_cast<std::size_t>(std::min(span + 1, most_steps))};
  panels.fill = [&](Panel& panel, std::size_t r) {
    const auto of = [&](const std::vector<double>& values, std::size_t layer) {
      return slice_of(values, layer * truncations.size() + r, components.size());
    };
    const auto kept = static_cast<double>(truncations[r]), shown = std::max(1.0, std::min(kept, components.back()));
    panel.name(fmt::format("top {} components kept", truncations[r]), 7.5, 0.6);
    panel.x.range = {0.5, shown + 0.5};
    panel.x.tics = {.step = std::max(1.0, std::floor(shown / 5)), .numbers = Numbers::plain};
    panel.colors = {static_cast<double>(first) - 0.5, static_cast<double>(last) + 0.5};
    if (r == 0) {  // which colour is which layer
      const PanelGrid& grid = panel.grid();
      panel.note("layer", grid.at(grid.width() - 0.4, grid.height() - 0.13), {.anchor = Anchor::center});
      const double step = span < 12 ? 1.0 : span < 24 ? 2.0 : static_cast<double>(std::max<Index>(4, span / 8));
      panel.color_bar({.away = 0.12,
                       .width = 0.12,
                       .tics = {.step = step, .first = static_cast<double>(first), .numbers = Numbers::plain},
                       .common = true});
      panel.note("positions shuffled", {share(0.05), share(0.07)}, {.points = 7, .ink = ink::note, .front = true});
    }
    // The most that shuffled positions reach in any layer, and their mean over layers.
    std::vector<double> means(components.size(), 0.0), most(components.size(), std::nan(""));
    for (std::size_t layer = 0; layer < layers.size(); ++layer)
      for (std::size_t c = 0; c < components.size(); ++c) {
        means[c] += of(mean, layer)[c] / static_cast<double>(layers.size());
        most[c] = std::fmax(most[c], of(largest, layer)[c]);
      }
    panel.area(components, most, 0, ink::chance_area, 0.22);
    panel.curve(components, means, {ink::chance, 1.2, "-"});
    const auto drawn = std::ranges::count_if(components, [&](double component) { return component <= kept; });
    for (std::size_t layer = 0; layer < layers.size(); ++layer)
      panel.colored_curve(std::span(components).first(static_cast<std::size_t>(drawn)), of(found, layer),
                          static_cast<double>(layers[layer]), 1.4, 0.22);
  };
  return drawn_panels(panels, truncations.size(), options.width);
}

}  // namespace

Figure spectra_figure(const std::vector<LabelledSpectrum>& spectra, double page) {
  const bool alone = spectra.size() == 1;
  const bool named = std::ranges::any_of(spectra, [](const auto& spectrum) { return !spectrum.label.empty(); });
  const bool words = std::ranges::any_of(spectra, [](const auto& spectrum) { return !spectrum.words.mean.empty(); });
  // Above a panel, from bottom to top: periods, their title, the model.
  FigurePanels panels{.grid = {.panel = {alone ? 4.4 : 2.9, alone ? 2.3 : 1.7},
                               .gap = {0.75, named ? 1.26 : 1.1},
                               .margin = {.right = 0.16, .top = named ? 0.88 : 0.7}},
                      .in_row = 2,
                      .least = 2.2,
                      .y = {.tics = {.numbers = Numbers::plain},
                            .log = 10,
                            .title = "amplitude |DFT|, mean and quartiles",
                            .away = 0.48},
                      .legend = {{"positions", position_line}}};
  if (words) panels.legend.insert(panels.legend.begin(), {"words", word_line});
  panels.fill = [&](Panel& panel, std::size_t k) {
    const LabelledSpectrum& spectrum = spectra[k];
    const double highest = spectrum.frequency.back();
    panel.x = {.range = {0, highest}, .title = fmt::format("frequency f (cycles/T, T = {:g})", spectrum.length)};
    panel.y.range = range_of(spectrum);
    panel.upper = period_tics(spectrum.length, highest, panel.width());
    panel.note("period T/f (tokens)", panel.over(panel.width() / 2, 0.33), {.anchor = Anchor::center});
    add_spectrum(panel, spectrum, spectrum.words, word_line, ink::reference);
    add_spectrum(panel, spectrum, spectrum.positions, position_line, categorical(0));
    if (!spectrum.label.empty())
      panel.texts({{0.0, panel.y.range.high, shortened(visible_text(spectrum.label), 44)}},
                  {.points = 8, .bold = true, .up_share = 0.56 / panel.height()});
  };
  return drawn_panels(panels, spectra.size(), page);
}

std::string spectra_caption(const std::vector<LabelledSpectrum>& spectra) {
  std::string names;
  for (const LabelledSpectrum& spectrum : spectra)
    names += (names.empty() ? "" : ", ") + shortened(visible_text(spectrum.label), 44);
  return fmt::format("{} Models: {}.", position_figures().front().caption, names);
}

std::vector<FigureKind> position_figures() {
  return {
      {.name = "position_spectrum",
       .fields = {"position_spectrum/mean", "position_spectrum/lower_quartile", "position_spectrum/upper_quartile"},
       .extras = {"position_spectrum/word_mean", "position_spectrum/word_lower_quartile",
                  "position_spectrum/word_upper_quartile"},
       .caption =
           "Amplitude spectrum of the position embedding: absolute discrete Fourier transform of each column over "
           "positions, mean over columns and band between their quartiles. A mean above its band comes from few "
           "columns with large amplitudes. The axis shows four decades at most. Words, where shown, are the "
           "embeddings of a text's tokens in the same transform. Frequency 0 is left out.",
       .drawing = draw_position_spectrum},
      {.name = "position_components",
       .fields = {components_name},
       .caption =
           "How many principal components the position table needs: share of its variance, without column means, "
           "that the largest components have together, against their number (logarithmic). Dots mark the 4 and 12 "
           "components that the paper names.",
       .drawing = draw_position_components},
      {.name = "position_correlation",
       .fields = {canonical_name, canonical_mean_name, canonical_largest_name},
       .caption =
           "Canonical correlations (1) of the hidden states that enter each layer with the positions, over all "
           "tokens of all documents; a panel for each number of the positions' principal components kept. Grey: the "
           "largest correlation that shuffled positions reach over all draws and layers; dotted: their mean.",
       .drawing = draw_position_correlation}};
}

}  // namespace headwave
