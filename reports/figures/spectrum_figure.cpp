#include "spectrum_figure.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "../../core/errors/error.h"
#include "../../core/fields/field_reader.h"
#include "../drawing/visible_text.h"
#include "figure_kind.h"

namespace headwave {

namespace {

const Line position_line = categorical_line(0), word_line{ink::chance, 1.6, "-"};

void require_spectrum(const LabelledSpectrum& spectrum) {
  const std::size_t n = spectrum.frequency.size();
  const auto fits = [n](const SpectrumCurve& curve) {
    return curve.mean.size() == n && (curve.lower.empty() || curve.lower.size() == n) &&
           curve.upper.size() == curve.lower.size();
  };
  if (n < 2 || !(spectrum.frequency.back() > 0) || !fits(spectrum.positions) ||
      !(spectrum.words.mean.empty() || fits(spectrum.words)))
    throw ShapeError(fmt::format(
        "spectrum: expected mean and quartiles for each of {} frequencies (at least 2, ascending), found {}, {} and {} "
        "of positions, {}, {} and {} of words",
        n, spectrum.positions.mean.size(), spectrum.positions.lower.size(), spectrum.positions.upper.size(),
        spectrum.words.mean.size(), spectrum.words.lower.size(), spectrum.words.upper.size()));
}

/// A range that shows every mean and the bands as far as four decades below the top.
ValueRange range_of(const LabelledSpectrum& spectrum) {
  double low = HUGE_VAL, high = 0.0;
  for (const SpectrumCurve* curve : {&spectrum.positions, &spectrum.words})
    for (const auto* values : {&curve->mean, &curve->lower, &curve->upper})
      for (std::size_t i = 0; i < values->size(); ++i)
        if (const double one = (*values)[i]; spectrum.frequency[i] > 0 && std::isfinite(one) && one > 0) {
          low = std::min(low, one);
          high = std::max(high, one);
        }
  return high > 0 ? ValueRange{std::max(low, high * 1e-4) / 1.25, high * 1.6} : ValueRange{1e-3, 1.0};
}

/// A curve and the band around it without frequency 0, nothing below the axis.
void add_spectrum(Panel& panel, const LabelledSpectrum& spectrum, const SpectrumCurve& curve, const Line& line,
                  const Ink& band) {
  const auto first = static_cast<std::size_t>(std::ranges::find_if(spectrum.frequency, [](double f) { return f > 0; }) -
                                              spectrum.frequency.begin());
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

/// Periods worth naming above the panel, as far apart as their numbers need.
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
                        options.style);
}

}  // namespace

Figure spectra_figure(const std::vector<LabelledSpectrum>& spectra, const FigureStyle& style) {
  if (spectra.empty()) throw ShapeError("spectra: expected at least one spectrum to draw, found none");
  for (const LabelledSpectrum& spectrum : spectra) require_spectrum(spectrum);
  const bool alone = spectra.size() == 1;
  const bool named = std::ranges::any_of(spectra, [](const auto& spectrum) { return !spectrum.label.empty(); });
  const bool words = std::ranges::any_of(spectra, [](const auto& spectrum) { return !spectrum.words.mean.empty(); });
  // Above a panel, from below: periods, their name, the model.
  FigurePanels panels{.grid = {.panel = {alone ? 4.4 : 2.9, alone ? 2.3 : 1.7},
                               .gap = {0.75, named ? 1.26 : 1.1},
                               .margin = {.right = 0.16, .top = named ? 0.88 : 0.7}},
                      .in_row = 2,
                      .least = 2.2,
                      .lowest = 0.8,
                      .y = {.tics = {.numbers = Numbers::plain},
                            .log = 10,
                            .title = "amplitude |DFT|, mean and quartiles",
                            .away = 0.48},
                      .legend = {{"positions", position_line}}};
  if (words) panels.legend.insert(panels.legend.begin(), {"words", word_line});
  (void)lowered_to_fit(panels, spectra.size(), style);
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
  return drawn_panels(panels, spectra.size(), style);
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
          "with large amplitudes. The axis shows four decades at most. Words, where shown, are the embeddings of a "
          "text's tokens in the same transform. Frequency 0 is left out.",
      .drawing = draw_position_spectrum};
}

}  // namespace headwave
