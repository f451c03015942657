#include "rotary_wave_figure.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "../drawing/field_values.h"
#include "../drawing/page.h"
#include "chosen_heads.h"
#include "cluster_peaks.h"

namespace headwave {

namespace {

using std::numbers::pi;

constexpr const char* real_name = "rotary_wave/coefficient_real";
constexpr const char* imaginary_name = "rotary_wave/coefficient_imaginary";
constexpr const char* estimate_name = "rotary_wave/estimate";
constexpr const char* frequency_name = "rotary_wave/frequency";
constexpr std::size_t most_rotary_heads = 6;

struct Pairs {
  std::vector<double> frequencies;
  const std::vector<double>*real = nullptr, *imaginary = nullptr;  // (heads, pairs)
  const std::vector<double>* estimate = nullptr;                   // (heads)
};

Pairs pairs_of(const Result& result) {
  Pairs pairs;
  pairs.frequencies = doubles_of(result, frequency_name, {"pair"});
  pairs.real = &doubles_of(result, real_name, {"layer", "head", "pair"});
  pairs.imaginary = &doubles_of(result, imaginary_name, {"layer", "head", "pair"});
  pairs.estimate = &doubles_of(result, estimate_name, {"layer", "head"});
  const std::size_t numbers = pairs.estimate->size() * pairs.frequencies.size();
  if (numbers == 0 || pairs.real->size() != numbers || pairs.imaginary->size() != numbers)
    throw ShapeError(fmt::format("{}: expected {} pairs for each of {} heads, at least one, found {} and {} numbers",
                                 real_name, pairs.frequencies.size(), pairs.estimate->size(), pairs.real->size(),
                                 pairs.imaginary->size()));
  return pairs;
}

/// From below the slowest to above the fastest.
ValueRange frequency_range(const Pairs& pairs) {
  double low = 1, high = 0;
  for (const double f : pairs.frequencies)
    if (f > 1e-12 && std::isfinite(f)) {
      low = high > 0 ? std::min(low, f) : f;
      high = std::max(high, f);
    }
  return high > 0 ? ValueRange{low / 1.5, high * 1.5} : ValueRange{0.001, 1};
}

PanelGrid rotary_grid(std::size_t heads, const FigureStyle& style) {
  PanelGrid grid;
  grid.panel_width = heads == 1 ? 3.4 : 2.1;
  grid.panel_height = 1.6;
  grid.gap_x = 0.26;
  grid.gap_y = 0.44;
  grid.left = 0.66;
  grid.right = 0.14;
  grid.bottom = 0.5;
  grid.top = 0.3;
  return fitted(flowing(grid, heads, 3), heads, 1.6, style);
}

/// The phase -theta t at which a pair asks for the offset t, broken where it passes pi.
DataTable offset_line(const ValueRange& range, double offset) {
  DataTable table({"frequency", "phase"});
  constexpr int steps = 600;
  double last = 0;
  for (int i = 0; i <= steps; ++i) {
    const double f = range.low * std::pow(range.high / range.low, static_cast<double>(i) / steps);
    const double phase = std::remainder(-f * offset, 2 * pi);
    if (i > 0 && std::abs(phase - last) > 3) table.add_row({f, std::nan("")});
    table.add_row({f, phase});
    last = phase;
  }
  return table;
}

void add_head(Page& page, std::size_t k, std::size_t panels, const Pairs& pairs, const ChosenHead& head) {
  const std::size_t count = pairs.frequencies.size();
  const ValueRange range = frequency_range(pairs);
  const double estimate = (*pairs.estimate)[head.row];
  double largest = 0;
  for (std::size_t m = 0; m < count; ++m) {
    const double modulus = std::hypot((*pairs.real)[head.row * count + m], (*pairs.imaginary)[head.row * count + m]);
    if (std::isfinite(modulus)) largest = std::max(largest, modulus);
  }
  DataTable kept({"layer", "head", "pair", "frequency", "modulus", "phase", "offset"}), dots({"x", "y", "size"});
  for (std::size_t m = 0; m < count; ++m) {
    const double re = (*pairs.real)[head.row * count + m], im = (*pairs.imaginary)[head.row * count + m];
    const double modulus = std::hypot(re, im), phase = std::atan2(im, re), f = pairs.frequencies[m];
    kept.add_row({head.name.layer, head.name.head, static_cast<Index>(m), f, modulus, phase, -phase / f});
    if (largest > 0 && f > 0 && std::isfinite(modulus) && std::isfinite(f))
      dots.add_row({f, phase, 0.15 + 1.1 * std::sqrt(modulus / largest)});
  }
  page.keep(kept);
  Panel& panel = page.panel(k);
  panel.x_axis(range, {.numbers = page.grid().is_lowest(k, panels) ? Numbers::plain : Numbers::none});
  panel.x_logarithmic();
  const bool leftmost = page.grid().column_of(k) == 0;
  panel.y_axis({-pi, pi},
               {.named = {{-pi, leftmost ? "−π" : ""}, {0, leftmost ? "0" : ""}, {pi, leftmost ? "π" : ""}}});
  panel.above(head_name(head.name.layer, head.name.head), Anchor::left, {.points = 8, .bold = true, .up = 0.5});
  panel.level(0, {ink::zero_line, 0.7});
  for (const double offset : {-1.0, -2.0, -4.0, -8.0})
    if (offset != estimate) panel.curve(page.data(offset_line(range, offset)), "1:2", {ink::pale_zero_line, 0.7});
  if (std::isfinite(estimate)) {
    panel.above("t = " + signed_offset(estimate), Anchor::right, {.points = 8, .ink = ink::mark, .up = 0.5});
    panel.curve(page.data(offset_line(range, estimate)), "1:2", {ink::mark, 1.0});
  }
  if (!dots.rows().empty()) panel.dots(page.data(dots), "1:2:3", {.ink = ink::measured});
}

GnuplotFigure draw_rotary_wave(const Result& result, const FigureOptions& options) {
  const Pairs pairs = pairs_of(result);
  const auto heads = chosen_heads(result, estimate_name, options, most_rotary_heads);
  Page page(rotary_grid(heads.size(), options.style), options.style);
  for (std::size_t k = 0; k < heads.size(); ++k) add_head(page, k, heads.size(), pairs, heads[k]);
  page.title_below("frequency θ (radians per token)");
  page.title_left("phase of the pair (radians)");
  return page.figure();
}

}  // namespace

FigureKind rotary_wave_figure() {
  return {"rotary_wave",
          {frequency_name, real_name, imaginary_name, estimate_name},
          clearness_fields(),
          "Where the wave that rotary positions have built in points single heads. Each dot is a pair of channels: its "
          "phase between mean query and mean key against the frequency at which it turns, larger the more it "
          "contributes. Pairs that ask for one offset lie on its line; the strong line is that of the offset t where "
          "the position kernel is largest, pale ones stand for −1, −2, −4 and −8.",
          draw_rotary_wave};
}

}  // namespace headwave
