// The wave that rotary positions have built in, and which of its frequencies heads use.
#include <algorithm>
#include <cmath>
#include <numbers>

#include <fmt/format.h>

#include "../../core/fields/field_reader.h"
#include "../drawing/page.h"
#include "chosen_heads.h"
#include "kinds.h"

namespace headwave {

namespace {

using std::numbers::pi;

constexpr const char *real_name = "rotary_wave/coefficient_real", *imaginary_name = "rotary_wave/coefficient_imaginary",
                     *estimate_name = "rotary_wave/estimate", *pair_frequency_name = "rotary_wave/frequency",
                     *use_name = "rotary_wave/layer_use";
constexpr std::size_t most_rotary_heads = 6;

/// Pairs of channels of every head.
struct RotaryPairs {
  const std::vector<double>& frequencies;      // (pairs)
  const std::vector<double>&real, &imaginary;  // (heads, pairs)
  const std::vector<double>& estimate;         // (heads)
};

/// From below the slowest to above the fastest.
ValueRange frequency_range(const RotaryPairs& pairs) {
  double low = 1, high = 0;
  for (const double f : pairs.frequencies)
    if (f > 1e-12 && std::isfinite(f)) {
      low = high > 0 ? std::min(low, f) : f;
      high = std::max(high, f);
    }
  return high > 0 ? ValueRange{low / 1.5, high * 1.5} : ValueRange{0.001, 1};
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

void add_pairs(Page& page, Panel& panel, const RotaryPairs& pairs, const ChosenHead& head) {
  const std::size_t count = pairs.frequencies.size();
  const ValueRange range = frequency_range(pairs);
  const double estimate = pairs.estimate[head.row];
  const auto modulus_of = [&](std::size_t m) {
    return std::hypot(pairs.real[head.row * count + m], pairs.imaginary[head.row * count + m]);
  };
  double largest = 0;
  for (std::size_t m = 0; m < count; ++m)
    if (std::isfinite(modulus_of(m))) largest = std::max(largest, modulus_of(m));
  DataTable kept({"layer", "head", "pair", "frequency", "modulus", "phase", "offset"}), dots({"x", "y", "size"});
  for (std::size_t m = 0; m < count; ++m) {
    const double re = pairs.real[head.row * count + m], im = pairs.imaginary[head.row * count + m];
    const double modulus = modulus_of(m), phase = std::atan2(im, re), f = pairs.frequencies[m];
    kept.add_row({head.name.layer, head.name.head, m, f, modulus, phase, -phase / f});
    if (largest > 0 && f > 0 && std::isfinite(modulus) && std::isfinite(f))
      dots.add_row({f, phase, 0.15 + 1.1 * std::sqrt(modulus / largest)});
  }
  page.keep(kept);
  panel.common_x_axis(range);
  panel.x_logarithmic();
  panel.common_y_axis({-pi, pi}, {.named = {{-pi, "−π"}, {0, "0"}, {pi, "π"}}});
  panel.above(head.text(), Anchor::left, {.points = 8, .bold = true, .up = 0.5});
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
  const RotaryPairs pairs{doubles_of(result, pair_frequency_name, {"pair"}),
                          doubles_of(result, real_name, {"layer", "head", "pair"}),
                          doubles_of(result, imaginary_name, {"layer", "head", "pair"}),
                          doubles_of(result, estimate_name, {"layer", "head"})};
  PanelFlow flow{.grid = {.panel = {options.heads.size() == 1 ? 3.4 : 2.1, 1.6},
                          .gap = {0.26, 0.44},
                          .margin = {.left = 0.66, .right = 0.14, .top = 0.3, .bottom = 0.5}},
                 .below = "frequency θ (radians per token)",
                 .left = "phase of the pair (radians)"};
  const auto heads = heads_on_page(result, estimate_name, options, flow, most_rotary_heads);
  return drawn_panels(flow, heads.size(), options.style,
                      [&](Page& page, Panel& panel, std::size_t k) { add_pairs(page, panel, pairs, heads[k]); });
}

GnuplotFigure draw_rotary_use(const Result& result, const FigureOptions& options) {
  const auto& shares = doubles_of(result, use_name, {"layer", "pair"});
  const auto& frequencies = doubles_of(result, pair_frequency_name, {"pair"});
  const auto layers = whole_coordinates(result.at(use_name), "layer");
  const auto down = static_cast<double>(layers.size()), across = static_cast<double>(frequencies.size());
  const PanelGrid grid = fitted({.panel = {std::clamp(0.16 * across, 2.4, 5.6), std::clamp(0.2 * down, 1.2, 5.0)},
                                 .margin = {.left = 0.56, .right = 0.85, .top = 0.16, .bottom = 0.5}},
                                1, 1.5, options.style);
  DataTable table({"layer", "pair", "frequency", "share"});
  double largest = 0;
  for (std::size_t i = 0; i < shares.size(); ++i) {
    const std::size_t m = i % frequencies.size();
    table.add_row({layers[i / frequencies.size()], m, frequencies[m], shares[i]});
    if (std::isfinite(shares[i])) largest = std::max(largest, shares[i]);
  }
  if (!(largest > 0)) largest = 1;
  Page page(grid, options.style);
  page.keep(table);
  Panel& panel = page.panel(0);
  std::vector<Tic> names;
  const auto step = static_cast<std::size_t>(std::max(1.0, std::ceil(0.5 * across / grid.panel.width)));
  for (std::size_t m = 0; m < frequencies.size(); m += step)
    names.push_back({static_cast<double>(m), fmt::format("{:.2g}", frequencies[m])});
  panel.x_cells(frequencies.size(), {.named = names});
  panel.y_cells(layers.size(), {.named = spaced(layers, grid.panel.height, 0.2)});
  panel.title_below("frequency of the pair (radians per token)");
  panel.title_left("layer", 0.36);
  panel.color_range({0, largest});
  panel.color_bar(
      {.away = 0.1, .width = 0.09, .tics = {.step = tic_step(1.3 * largest)}, .title = "share of the layer's use"});
  const auto share = [&](std::size_t pair, std::size_t layer) { return shares[layer * frequencies.size() + pair]; };
  panel.heat_map(page.data(pixels({frequencies.size(), layers.size(), share}, 4, 4)));
  return page.figure();
}

}  // namespace

FigureKind rotary_wave_figure() {
  return {
      .name = "rotary_wave",
      .fields = {estimate_name, real_name, imaginary_name, pair_frequency_name},
      .extras = strength_fields(),
      .caption =
          "Where the wave that rotary positions have built in points single heads. Each dot is a pair of channels: its "
          "phase between mean query and mean key against the frequency at which it turns, larger the more it "
          "contributes. Pairs that ask for one offset lie on its line; the strong line is that of the offset t where "
          "the position kernel is largest, pale ones stand for −1, −2, −4 and −8.",
      .drawing = draw_rotary_wave,
      .single_heads = true};
}

FigureKind rotary_use_figure() {
  return {
      .name = "rotary_use",
      .fields = {use_name, pair_frequency_name},
      .caption =
          "Which rotary frequencies the heads of every layer use: mean modulus of a pair's queries times that of its "
          "keys, whichever way they point, summed over the layer's heads, as a share of the layer's sum. Fast pairs on "
          "the left.",
      .drawing = draw_rotary_use};
}

}  // namespace headwave
