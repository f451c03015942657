// The wave that rotary positions have built in, and which of its frequencies heads use.
#include <algorithm>
#include <cmath>
#include <numbers>

#include <fmt/format.h>

#include "chosen_heads.h"

namespace headwave {

namespace {

using std::numbers::pi;

constexpr const char *real_name = "rotary_wave/coefficient_real", *imaginary_name = "rotary_wave/coefficient_imaginary",
                     *estimate_name = "rotary_wave/estimate", *pair_frequency_name = "rotary_wave/frequency",
                     *use_name = "rotary_wave/layer_use";

/// From below the slowest pair of channels to above the fastest.
ValueRange frequency_range(const std::vector<double>& frequencies) {
  double low = HUGE_VAL, high = 0;
  for (const double f : frequencies)
    if (f > 1e-12 && std::isfinite(f)) {
      low = std::min(low, f);
      high = std::max(high, f);
    }
  return high > 0 ? ValueRange{low / 1.5, high * 1.5} : ValueRange{0.001, 1};
}

/// The phase -theta t at which a pair asks for the offset t, broken where it passes pi.
void add_offset_line(Panel& panel, const ValueRange& range, double offset, const Line& line) {
  constexpr int steps = 600;
  std::vector<double> frequencies, phases;
  for (int i = 0; i <= steps; ++i) {
    const double f = range.low * std::pow(range.high / range.low, static_cast<double>(i) / steps);
    const double phase = std::remainder(-f * offset, 2 * pi);
    if (i > 0 && std::abs(phase - phases.back()) > 3) {
      frequencies.push_back(f);
      phases.push_back(std::nan(""));
    }
    frequencies.push_back(f);
    phases.push_back(phase);
  }
  panel.curve(frequencies, phases, line);
}

Figure draw_rotary_wave(const Result& result, const FigureOptions& options) {
  const auto& frequencies = doubles_of(result, pair_frequency_name, {"pair"});
  const auto& real = doubles_of(result, real_name, {"layer", "head", "pair"});
  const auto& imaginary = doubles_of(result, imaginary_name, {"layer", "head", "pair"});
  const auto& estimates = doubles_of(result, estimate_name, {"layer", "head"});
  const ValueRange range = frequency_range(frequencies);
  FigurePanels panels{.grid = {.panel = {options.heads.size() == 1 ? 3.4 : 2.1, 1.6}, .gap = {0.26, 0.44}},
                      .x = {.range = range, .log = 10, .common = true},
                      .y = {.range = {-pi, pi}, .tics = {.named = {{-pi, "−π"}, {0, "0"}, {pi, "π"}}}, .common = true},
                      .below = "frequency θ (radians per token)",
                      .left = "phase of the pair (radians)"};
  const auto heads = heads_on_page(result, estimate_name, options, panels, 6);
  panels.fill = [&](Panel& panel, std::size_t k) {
    const auto re = slice_of(real, heads[k].row, frequencies.size());
    const auto im = slice_of(imaginary, heads[k].row, frequencies.size());
    double largest = 0;
    for (std::size_t m = 0; m < re.size(); ++m)
      if (const double modulus = std::hypot(re[m], im[m]); std::isfinite(modulus)) largest = std::max(largest, modulus);
    Rows dots;
    for (std::size_t m = 0; m < re.size(); ++m)
      if (const double modulus = std::hypot(re[m], im[m]), f = frequencies[m];
          largest > 0 && f > 0 && std::isfinite(modulus) && std::isfinite(f))
        dots.push_back({f, std::atan2(im[m], re[m]), 0.15 + 1.1 * std::sqrt(modulus / largest)});
    const double estimate = estimates[heads[k].row];
    panel.name(heads[k].text());
    panel.level(0, {ink::zero_line, 0.7});
    for (const double offset : {-1.0, -2.0, -4.0, -8.0})
      if (offset != estimate) add_offset_line(panel, range, offset, {ink::pale_zero_line, 0.7});
    if (std::isfinite(estimate)) {
      panel.above("t = " + signed_offset(estimate), Anchor::right, {.points = 8, .ink = ink::mark, .up = 0.5});
      add_offset_line(panel, range, estimate, {ink::mark, 1.0});
    }
    panel.dots(dots, {.ink = ink::measured});
  };
  return drawn_panels(panels, heads.size(), options.style);
}

Figure draw_rotary_use(const Result& result, const FigureOptions& options) {
  const auto& shares = doubles_of(result, use_name, {"layer", "pair"});
  const auto& frequencies = doubles_of(result, pair_frequency_name, {"pair"});
  const auto layers = whole_coordinates(result.at(use_name), "layer");
  const auto down = static_cast<double>(layers.size()), across = static_cast<double>(frequencies.size());
  const double found = largest_of(shares), largest = found > 0 ? found : 1;
  FigurePanels panels{.grid = {.panel = {std::clamp(0.16 * across, 2.4, 5.6), std::clamp(0.2 * down, 1.2, 5.0)},
                               .margin = {.left = 0.56, .right = 0.85, .top = 0.16}}};
  panels.fill = [&](Panel& panel, std::size_t) {
    panel.x = cells_across(frequencies.size());
    const auto step = static_cast<std::size_t>(std::max(1.0, std::ceil(0.5 * across / panel.width())));
    for (std::size_t m = 0; m < frequencies.size(); m += step)
      panel.x.tics.named.push_back({static_cast<double>(m), fmt::format("{:.2g}", frequencies[m])});
    panel.y = cells_down(layers.size(), {.named = spaced(layers, panel.height(), 0.2)});
    panel.x.title = "frequency of the pair (radians per token)";
    panel.y.title = "layer";
    panel.y.away = 0.36;
    panel.color_bar(
        {.away = 0.1, .width = 0.09, .tics = {.step = tic_step(1.3 * largest)}, .title = "share of the layer's use"});
    const auto use = [&](std::size_t pair, std::size_t layer) { return shares[layer * frequencies.size() + pair]; };
    panel.heat_map({frequencies.size(), layers.size(), use}, {0, largest});
  };
  return drawn_panels(panels, 1, options.style);
}

}  // namespace

std::vector<FigureKind> rotary_figures() {
  return {
      {.name = "rotary_wave",
       .fields = {estimate_name, real_name, imaginary_name, pair_frequency_name},
       .extras = strength_fields(),
       .caption =
           "Where the wave that rotary positions have built in points single heads. Each dot is a pair of channels: "
           "its phase between mean query and mean key against the frequency at which it turns, larger the more it "
           "contributes. Pairs that ask for one offset lie on its line; the strong line is that of the offset t "
           "where the position kernel is largest, pale ones stand for −1, −2, −4 and −8.",
       .drawing = draw_rotary_wave,
       .single_heads = true},
      {.name = "rotary_use",
       .fields = {use_name, pair_frequency_name},
       .caption =
           "Which rotary frequencies the heads of every layer use: mean modulus of a pair's queries times that of "
           "its keys, whichever way they point, summed over the layer's heads, as a share of the layer's sum. Fast "
           "pairs on the left.",
       .drawing = draw_rotary_use}};
}

}  // namespace headwave
