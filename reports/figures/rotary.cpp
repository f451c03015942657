// Rotary waves: the phases of channel pairs, and the offset to which they point.
#include <algorithm>
#include <cmath>
#include <numbers>

#include <fmt/format.h>

#include "chosen_heads.h"

namespace headwave {

namespace {

using std::numbers::pi;

constexpr const char *real_name = "rotary_wave/coefficient_real", *imaginary_name = "rotary_wave/coefficient_imaginary",
                     *estimate_name = "rotary_wave/estimate", *pair_frequency_name = "rotary_wave/frequency";

/// Draws the phase -theta t at which a pair points to the offset t, broken where it passes pi.
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
  const ValueRange pairs = positive_range(frequencies);  // from below the slowest pair of channels to above the fastest
  const ValueRange range = pairs.high > 0 ? ValueRange{pairs.low / 1.5, pairs.high * 1.5} : ValueRange{0.001, 1};
  FigurePanels panels{.grid = {.panel = {options.heads.size() == 1 ? 3.4 : 2.1, 1.6}, .gap = {0.26, 0.44}},
                      .x = {.range = range, .log = 10, .common = true},
                      .y = {.range = {-pi, pi}, .tics = {.named = {{-pi, "−π"}, {0, "0"}, {pi, "π"}}}, .common = true},
                      .below = "frequency θ (radians per token)",
                      .left = "phase of the pair (radians)"};
  const auto heads = chosen_heads(result, estimate_name, options, 6);
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
    panel.dots(dots, ink::measured);
  };
  return drawn_heads(panels, heads, field_heads(result.at(estimate_name)), options);
}

}  // namespace

std::vector<FigureKind> rotary_figures() {
  return {
      {.name = "rotary_wave",
       .fields = {estimate_name, real_name, imaginary_name, pair_frequency_name},
       .caption =
           "The offset to which rotary positions point single heads. Each dot is a pair of channels: its phase "
           "between mean query and mean key against the frequency at which it rotates; the larger the dot, the more "
           "the pair contributes. Pairs that favour the same offset lie on one line: the strong line is that of the "
           "offset t where the position kernel is largest, pale ones are those of −1, −2, −4 and −8.",
       .drawing = draw_rotary_wave,
       .single_heads = true}};
}

}  // namespace headwave
