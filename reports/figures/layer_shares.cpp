// What something of every layer is made of: a bar a layer, a colour a part.
#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "../../core/fields/field_reader.h"
#include "figure_kind.h"

namespace headwave {

namespace {

constexpr const char *query_share_name = "score_sources/position_query", *key_share_name = "score_sources/position_key",
                     *kernel_sd_name = "score_sources/kernel_sd", *split_name = "position_split/variance_share",
                     *split_noise_name = "position_split/noise_share";

/// What a panel's bars are made of.
struct LayerShares {
  std::string title;                       // of the panel
  std::vector<std::vector<double>> parts;  // (parts) (layers)
};

/// What all panels have in common.
struct LayerBars {
  std::vector<Index> layers;
  std::vector<LegendEntry> parts;         // in the order of the shares, with their inks
  std::string title;                      // below every panel
  std::vector<double> marks = {};         // (layers) a stroke on every bar; empty: none
  const char* mark_name = "noise alone";  // in the legend
};

Figure draw_layer_bars(const LayerBars& bars, const std::vector<LayerShares>& shares, const FigureStyle& style) {
  const auto down = static_cast<double>(bars.layers.size());
  // One part's piece of every bar: what is above 0 stacks to the right, what is below to the left.
  std::vector<std::vector<Rows>> pieces(shares.size(), std::vector<Rows>(bars.parts.size()));
  ValueRange range{0, 1};  // from the farthest bar left of 0 to the farthest right of it, at least 0 to 1
  for (std::size_t k = 0; k < shares.size(); ++k)
    for (std::size_t layer = 0; layer < bars.layers.size(); ++layer) {
      double below = 0, above = 0;
      for (std::size_t part = 0; part < bars.parts.size(); ++part) {
        const double share = shares[k].parts[part][layer];
        if (!std::isfinite(share)) continue;
        double& from = share < 0 ? below : above;
        pieces[k][part].push_back({from + share / 2, layer, std::abs(share) / 2, 0.4});
        from += share;
      }
      range = {std::min(range.low, below), std::max(range.high, above)};
    }
  range = {range.low < 0 ? range.low - 0.02 : 0, range.high + 0.02};
  FigurePanels panels{
      .grid = {.panel = {shares.size() == 1 ? 4.4 : 2.7, std::max(1.15, down * std::clamp(2.6 / down, 0.1, 0.28))},
               .gap = {0.3, 0.75},
               .margin = {.left = 0.55, .right = 0.15, .top = 0.42, .bottom = 0.54}},
      .in_row = 2,
      .least = 1.9,
      .x = {.range = range,
            .tics = {.step = 0.2, .first = range.low < 0 ? -1.0 : 0.0},
            .title = bars.title,
            .away = 0.43},
      .legend = bars.parts};
  if (!bars.marks.empty()) panels.legend.push_back({bars.mark_name, {ink::text, 1.6}});
  panels.fill = [&](Panel& panel, std::size_t k) {
    panel.tic_length = 0.3;
    panel.y = cells_down(bars.layers.size(), {.named = spaced(bars.layers, panel.height(), 0.13), .points = 7});
    panel.y.title = panel.is_leftmost() ? "layer" : "";
    panel.y.away = 0.34;
    panel.name(shares[k].title);
    for (std::size_t part = 0; part < bars.parts.size(); ++part)
      panel.boxes(pieces[k][part], bars.parts[part].line.ink);
    panel.strokes({{0.0, -0.5, 0.0, down}}, {ink::zero_line, 0.7});
    Rows marks;
    for (std::size_t layer = 0; layer < bars.marks.size(); ++layer)
      marks.push_back({bars.marks[layer], static_cast<double>(layer) - 0.4, 0.0, 0.8});
    panel.strokes(marks, {ink::text, 1.6});
  };
  return drawn_panels(panels, shares.size(), style);
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
  LayerShares groups{title, std::vector<std::vector<double>>(source_groups.size(), std::vector<double>(layers, 0.0))};
  std::vector<double> whole(layers, 0.0);
  for (std::size_t row = 0; row < spread.size(); ++row) {
    const double weight = spread[row] * spread[row];
    if (!std::isfinite(weight) || !std::isfinite(shares[row * sources.size()])) continue;
    const std::size_t layer = row * layers / spread.size();
    whole[layer] += weight;
    for (std::size_t s = 0; s < sources.size(); ++s)
      groups.parts[group_of(sources[s])][layer] += weight * shares[row * sources.size() + s];
  }
  for (auto& part : groups.parts)
    for (std::size_t layer = 0; layer < layers; ++layer)
      part[layer] = whole[layer] > 0 ? part[layer] / whole[layer] : std::nan("");
  return groups;
}

Figure draw_score_sources(const Result& result, const FigureOptions& options) {
  const std::array inks{categorical(4), categorical(0), ink::rest, categorical(1), categorical(2)};
  LayerBars bars{whole_coordinates(result.at(query_share_name), "layer"), {}, "share of the layer's position kernels"};
  for (std::size_t g = 0; g < inks.size(); ++g) bars.parts.push_back({source_groups[g], {inks[g], 5.0}});
  return draw_layer_bars(
      bars,
      {group_shares(result, query_share_name, "read by queries"), group_shares(result, key_share_name, "read by keys")},
      options.style);
}

/// One part of the split, layer by layer.
std::vector<double> split_part(const Result& result, const char* part) {
  const auto& shares = doubles_of(result, split_name, {"layer", "part"});
  const std::size_t parts = labels_of(result.at(split_name), "part").size();
  std::vector<double> one;
  for (std::size_t at = place_of(result.at(split_name), "part", part); at < shares.size(); at += parts)
    one.push_back(shares[at]);
  return one;
}

Figure draw_position_split(const Result& result, const FigureOptions& options) {
  LayerBars bars{whole_coordinates(result.at(split_name), "layer"), {}, "share of the hidden states' variance"};
  if (result.find(split_noise_name) != nullptr) bars.marks = doubles_of(result, split_noise_name, {"layer"});
  LayerShares split;
  for (const auto& [part, ink] :
       {std::pair("position", categorical(0)), {"context", categorical(4)}, {"residual", ink::rest}}) {
    bars.parts.push_back({part, {ink, 5.0}});
    split.parts.push_back(split_part(result, part));
  }
  return draw_layer_bars(bars, {split}, options.style);
}

/// Of few documents noise alone gives position a share.
std::string split_within_noise(const Result& result, const FigureOptions& /*options*/) {
  if (result.find(split_noise_name) == nullptr) return "";
  const auto& noise = doubles_of(result, split_noise_name, {"layer"});
  const auto shares = split_part(result, "position");
  for (std::size_t layer = 0; layer < std::min(noise.size(), shares.size()); ++layer)
    if (shares[layer] > 1.1 * noise[layer]) return "";
  return "position has no more of the hidden states than noise alone would give it";
}

}  // namespace

std::vector<FigureKind> layer_figures() {
  return {
      {.name = "score_sources",
       .fields = {query_share_name, key_share_name, kernel_sd_name},
       .caption =
           "What wrote what the heads of each layer read of positions: shares of their position kernels (mean score "
           "at each offset of one document's queries or keys with the mean keys or queries of others), all heads of "
           "a layer together, by variance over offsets. Shares of a bar add up to 1; what works against the kernel "
           "stands left of 0. Attention and feed-forward are those of all layers before.",
       .drawing = draw_score_sources},
      {.name = "position_split",
       .fields = {split_name},
       .extras = {split_noise_name},
       .caption =
           "What hidden states are made of: the shares of their variance that depend on position alone, on the text "
           "alone, and on neither alone, layer by layer. The mark is the share that noise alone would put into the "
           "position part.",
       .drawing = draw_position_split,
       .silent = split_within_noise}};
}

}  // namespace headwave
