#include "rotary_use_figure.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "../drawing/field_values.h"
#include "../drawing/page.h"
#include "../drawing/pixels.h"

namespace headwave {

namespace {

constexpr const char* use_name = "rotary_wave/layer_use";
constexpr const char* pair_frequency_name = "rotary_wave/frequency";

struct Uses {
  std::vector<Index> layers;
  std::vector<double> frequencies;
  std::vector<double> share;  // (layers, pairs)
};

Uses uses_of(const Result& result) {
  Uses uses{whole_coordinates(result.at(use_name), "layer"), doubles_of(result, pair_frequency_name, {"pair"}),
            doubles_of(result, use_name, {"layer", "pair"})};
  if (uses.share.empty() || uses.share.size() != uses.layers.size() * uses.frequencies.size())
    throw ShapeError(fmt::format("{}: expected {} layers of {} pairs, at least one of each, found {} numbers", use_name,
                                 uses.layers.size(), uses.frequencies.size(), uses.share.size()));
  return uses;
}

GnuplotFigure draw_rotary_use(const Result& result, const FigureOptions& options) {
  const Uses uses = uses_of(result);
  const auto layers = static_cast<double>(uses.layers.size()), pairs = static_cast<double>(uses.frequencies.size());
  PanelGrid grid;
  grid.panel_width = std::clamp(0.16 * pairs, 2.4, 5.6);
  grid.panel_height = std::clamp(0.2 * layers, 1.2, 5.0);
  grid.left = 0.56;
  grid.right = 0.85;
  grid.bottom = 0.5;
  grid.top = 0.16;
  grid = fitted(grid, 1, 1.5, options.style);
  DataTable table({"layer", "pair", "frequency", "share"});
  double largest = 0;
  for (std::size_t i = 0; i < uses.share.size(); ++i) {
    const std::size_t layer = i / uses.frequencies.size(), m = i % uses.frequencies.size();
    table.add_row({uses.layers[layer], static_cast<Index>(m), uses.frequencies[m], uses.share[i]});
    if (std::isfinite(uses.share[i])) largest = std::max(largest, uses.share[i]);
  }
  Page page(grid, options.style);
  page.keep(table);
  Panel& panel = page.panel(0, 0);
  std::vector<Tic> names;
  const auto step = static_cast<std::size_t>(std::max(1.0, std::ceil(0.5 * pairs / grid.panel_width)));
  for (std::size_t m = 0; m < uses.frequencies.size(); m += step)
    names.push_back({static_cast<double>(m), fmt::format("{:.2g}", uses.frequencies[m])});
  panel.x_axis({-0.5, pairs - 0.5}, {.named = names});
  panel.y_axis({layers - 0.5, -0.5},
               {.named = every_nth(uses.layers, static_cast<std::size_t>(
                                                    std::max(1.0, std::ceil(0.2 * layers / grid.panel_height))))});
  panel.title_below("frequency of the pair (radians per token)");
  panel.title_left("layer", 0.36);
  panel.color_range({0, largest > 0 ? largest : 1});
  panel.color_bar({.x = grid.panel_left(0) + grid.panel_width + 0.1,
                   .y = grid.panel_bottom(0),
                   .width = 0.09,
                   .height = grid.panel_height,
                   .tics = {.step = tic_step(1.3 * (largest > 0 ? largest : 1))},
                   .title = "share of the layer's use"});
  const auto share = [&](std::size_t pair, std::size_t layer) {
    return uses.share[layer * uses.frequencies.size() + pair];
  };
  const auto place = [](double cell) { return cell; };
  panel.heat_map(page.data(pixels({uses.frequencies.size(), uses.layers.size(), share, place, place}, 4, 4)));
  return page.figure();
}

}  // namespace

FigureKind rotary_use_figure() {
  return {"rotary_use",
          {use_name, pair_frequency_name},
          {},
          "Which rotary frequencies the heads of every layer use: mean modulus of a pair's queries times that of its "
          "keys, whichever way they point, summed over the layer's heads, as a share of the layer's sum. Fast pairs on "
          "the left.",
          draw_rotary_use};
}

}  // namespace headwave
