#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "../../core/fields/field_reader.h"
#include "../drawing/page.h"
#include "kinds.h"

namespace headwave {

namespace {

constexpr const char *query_share_name = "score_sources/position_query", *key_share_name = "score_sources/position_key",
                     *kernel_sd_name = "score_sources/kernel_sd", *split_name = "position_split/variance_share",
                     *split_noise_name = "position_split/noise_share";

/// What something of every layer is made of: a bar a layer, a colour a part.
struct LayerShares {
  std::string title;                       // of the panel
  std::vector<std::vector<double>> parts;  // (parts) (layers)
};

/// One part's piece of every bar: what is above 0 stacks to the right, what is below to the left.
DataTable bars_of(const LayerShares& shares, std::size_t part) {
  DataTable table({"middle", "row", "left", "right", "bottom", "top"});
  for (std::size_t layer = 0; layer < shares.parts[part].size(); ++layer) {
    const double share = shares.parts[part][layer];
    if (!std::isfinite(share)) continue;
    double from = 0;
    for (std::size_t before = 0; before < part; ++before)
      if (shares.parts[before][layer] * share > 0) from += shares.parts[before][layer];
    const auto row = static_cast<double>(layer);
    table.add_row(
        {from + share / 2, row, std::min(from, from + share), std::max(from, from + share), row - 0.4, row + 0.4});
  }
  return table;
}

/// From the farthest bar left of 0 to the farthest right of it, at least 0 to 1.
ValueRange range_of_bars(const std::vector<LayerShares>& panels) {
  double least = 0, most = 1;
  for (const LayerShares& panel : panels)
    for (std::size_t layer = 0; layer < panel.parts.front().size(); ++layer) {
      double below = 0, above = 0;
      for (const auto& part : panel.parts)
        if (std::isfinite(part[layer])) (part[layer] < 0 ? below : above) += part[layer];
      least = std::fmin(least, below);
      most = std::fmax(most, above);
    }
  return {least < 0 ? least - 0.02 : 0, most + 0.02};
}

/// What all panels have in common.
struct LayerBars {
  std::vector<Index> layers;
  std::vector<LegendEntry> parts;  // in the order of the shares, with their inks
  std::string title;               // below every panel
  std::vector<double> marks = {};  // (layers) a stroke on every bar; empty: none
  std::string mark_name = {};
};

GnuplotFigure draw_layer_bars(const LayerBars& bars, const std::vector<LayerShares>& panels, const DataTable& numbers,
                              const FigureStyle& style) {
  const auto down = static_cast<double>(bars.layers.size());
  PanelFlow flow{
      .grid = {.panel = {panels.size() == 1 ? 4.4 : 2.7, std::max(1.15, down * std::clamp(2.6 / down, 0.1, 0.28))},
               .gap = {0.3, 0.75},
               .margin = {.left = 0.55, .right = 0.15, .top = 0.42, .bottom = 0.54}},
      .in_row = 2,
      .least = 1.9,
      .legend = bars.parts};
  if (!bars.marks.empty()) flow.legend.push_back({bars.mark_name, {ink::text, 1.6}});
  const ValueRange range = range_of_bars(panels);
  return drawn_panels(flow, panels.size(), style, [&](Page& page, Panel& panel, std::size_t k) {
    if (k == 0) page.keep(numbers);
    panel.tic_length(0.3);
    panel.y_cells(bars.layers.size(), {.named = spaced(bars.layers, panel.height(), 0.13), .points = 7});
    if (panel.is_leftmost()) panel.title_left("layer", 0.34);
    panel.x_axis(range, {.step = 0.2, .first = range.low < 0 ? -1.0 : 0.0});
    panel.above(panels[k].title, Anchor::left, {.points = 8, .bold = true, .up = 0.5});
    for (std::size_t part = 0; part < bars.parts.size(); ++part)
      if (const DataTable pieces = bars_of(panels[k], part); !pieces.rows().empty())
        panel.boxes(page.data(pieces), "1:2:3:4:5:6", bars.parts[part].line.ink);
    DataTable strokes({"share", "row", "across", "up"});
    strokes.add_row({0.0, -0.5, 0.0, down});
    panel.strokes(page.data(strokes), "1:2:3:4", {ink::zero_line, 0.7});
    if (!bars.marks.empty()) {
      DataTable marks({"share", "row", "across", "up"});
      for (std::size_t layer = 0; layer < bars.marks.size(); ++layer)
        marks.add_row({bars.marks[layer], static_cast<double>(layer) - 0.4, 0.0, 0.8});
      panel.strokes(page.data(marks), "1:2:3:4", {ink::text, 1.6});
    }
    panel.title_below(bars.title, 0.43);
  });
}

/// Sources as the bars tell them apart.
constexpr std::array source_groups{"words", "positions", "constants", "attention before", "feed-forward before"};

std::size_t group_of(const std::string& source) {
  for (std::size_t g = 0; g < 3; ++g)
    if (source == source_groups[g]) return g;
  return source.starts_with("feed-forward") ? 4 : 3;
}

/// Of all heads of a layer together: kernels count by their variance, as shares do.
LayerShares group_shares(const Result& result, const char* name, const char* title) {
  const auto& shares = doubles_of(result, name, {"layer", "head", "source"});
  const auto& spread = doubles_of(result, kernel_sd_name, {"layer", "head"});
  const auto& sources = labels_of(result.at(name), "source");
  const auto layers = static_cast<std::size_t>(result.at(name).axis("layer").size());
  const std::size_t heads = spread.size() / layers;
  LayerShares groups{title, std::vector<std::vector<double>>(source_groups.size())};
  for (std::size_t layer = 0; layer < layers; ++layer) {
    std::array<double, source_groups.size()> sums{};
    double whole = 0;
    for (std::size_t row = layer * heads; row < (layer + 1) * heads; ++row) {
      const double weight = spread[row] * spread[row];
      if (!std::isfinite(weight) || !std::isfinite(shares[row * sources.size()])) continue;
      whole += weight;
      for (std::size_t s = 0; s < sources.size(); ++s)
        sums[group_of(sources[s])] += weight * shares[row * sources.size() + s];
    }
    for (std::size_t g = 0; g < sums.size(); ++g) groups.parts[g].push_back(whole > 0 ? sums[g] / whole : std::nan(""));
  }
  return groups;
}

GnuplotFigure draw_score_sources(const Result& result, const FigureOptions& options) {
  const std::array inks{categorical(4), categorical(0), ink::rest, categorical(1), categorical(2)};
  LayerBars bars{whole_coordinates(result.at(query_share_name), "layer"), {}, "share of the layer's position kernels"};
  for (std::size_t g = 0; g < inks.size(); ++g) bars.parts.push_back({source_groups[g], {inks[g], 5.0}});
  const std::vector<LayerShares> sides{group_shares(result, query_share_name, "read by queries"),
                                       group_shares(result, key_share_name, "read by keys")};
  DataTable numbers({"side", "layer", "source", "share"});
  for (std::size_t s = 0; s < sides.size(); ++s)
    for (std::size_t g = 0; g < inks.size(); ++g)
      for (std::size_t layer = 0; layer < bars.layers.size(); ++layer)
        numbers.add_row({s == 0 ? "queries" : "keys", bars.layers[layer], source_groups[g], sides[s].parts[g][layer]});
  return draw_layer_bars(bars, sides, numbers, options.style);
}

GnuplotFigure draw_position_split(const Result& result, const FigureOptions& options) {
  const std::array names{"position", "context", "residual"};
  const std::array inks{categorical(0), categorical(4), ink::rest};
  const auto& shares = doubles_of(result, split_name, {"layer", "part"});
  const Field& field = result.at(split_name);
  const std::size_t parts = labels_of(field, "part").size();
  LayerBars bars{whole_coordinates(field, "layer"), {}, "share of the hidden states' variance"};
  if (result.find(split_noise_name) != nullptr) bars.marks = doubles_of(result, split_noise_name, {"layer"});
  bars.mark_name = "noise alone";
  LayerShares split;
  DataTable numbers({"layer", "part", "share"});
  for (std::size_t part = 0; part < names.size(); ++part) {
    bars.parts.push_back({names[part], {inks[part], 5.0}});
    split.parts.emplace_back();
    const std::size_t place = place_of(field, "part", names[part]);
    for (std::size_t layer = 0; layer < bars.layers.size(); ++layer) {
      split.parts.back().push_back(shares[layer * parts + place]);
      numbers.add_row({bars.layers[layer], names[part], split.parts.back().back()});
    }
  }
  for (std::size_t layer = 0; layer < bars.marks.size(); ++layer)
    numbers.add_row({bars.layers[layer], "noise", bars.marks[layer]});
  return draw_layer_bars(bars, {split}, numbers, options.style);
}

/// Of few documents noise alone gives position a share.
std::string split_within_noise(const Result& result, const FigureOptions& /*options*/) {
  if (result.find(split_noise_name) == nullptr) return "";
  const auto& shares = doubles_of(result, split_name, {"layer", "part"});
  const auto& noise = doubles_of(result, split_noise_name, {"layer"});
  const Field& field = result.at(split_name);
  const std::size_t parts = labels_of(field, "part").size(), position = place_of(field, "part", "position");
  for (std::size_t layer = 0; layer < noise.size() && (layer + 1) * parts <= shares.size(); ++layer)
    if (shares[layer * parts + position] > 1.1 * noise[layer]) return "";
  return "position has no more of the hidden states than noise alone would give it";
}

}  // namespace

FigureKind score_sources_figure() {
  return {.name = "score_sources",
          .fields = {query_share_name, key_share_name, kernel_sd_name},
          .caption =
              "What wrote what the heads of each layer read of positions: shares of their position kernels (mean "
              "score at each offset of one document's queries or keys with the mean keys or queries of others), all "
              "heads of a layer together, by variance over offsets. Shares of a bar add up to 1; what works against "
              "the kernel stands left of 0. Attention and feed-forward are those of all layers before.",
          .drawing = draw_score_sources};
}

FigureKind position_split_figure() {
  return {.name = "position_split",
          .fields = {split_name},
          .extras = {split_noise_name},
          .caption =
              "What hidden states are made of: the shares of their variance that depend on position alone, on the text "
              "alone, and on neither alone, layer by layer. The mark is the share that noise alone would put into the "
              "position part.",
          .drawing = draw_position_split,
          .silent = split_within_noise};
}

}  // namespace headwave
