#include "score_sources_figure.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "../../core/fields/head_name.h"
#include "../drawing/field_values.h"
#include "../drawing/page.h"
#include "../drawing/pixels.h"
#include "layer_bars.h"

namespace headwave {

namespace {

constexpr const char* query_share_name = "score_sources/position_query";
constexpr const char* key_share_name = "score_sources/position_key";
constexpr const char* kernel_sd_name = "score_sources/kernel_sd";
constexpr const char* position_table_name = "score_sources/position_table";

/// Sources as the bars tell them apart.
constexpr std::array source_groups{"words", "positions", "constants", "attention before", "feed-forward before"};
const std::array group_inks{categorical(4), categorical(0), ink::rest, categorical(1), categorical(2)};

std::size_t group_of(const std::string& source) {
  for (std::size_t g = 0; g < 3; ++g)
    if (source == source_groups[g]) return g;
  return source.starts_with("feed-forward") ? 4 : 3;
}

/// Shares of all heads of a layer together: kernels count by their variance, as shares do.
struct SideShares {
  std::vector<Index> layers;
  std::array<std::vector<double>, source_groups.size()> share;  // (layers)
};

SideShares side_shares(const Result& result, const char* name) {
  const auto& shares = doubles_of(result, name, {"layer", "head", "source"});
  const auto& spread = doubles_of(result, kernel_sd_name, {"layer", "head"});
  const auto& sources = labels_of(result.at(name), "source");
  SideShares side;
  side.layers = whole_coordinates(result.at(name), "layer");
  if (side.layers.empty() || spread.empty() || shares.size() != spread.size() * sources.size())
    throw ShapeError(fmt::format("{}: expected {} sources of each of {} heads, at least one, found {} numbers", name,
                                 sources.size(), spread.size(), shares.size()));
  const std::size_t heads = spread.size() / side.layers.size();
  for (std::size_t layer = 0; layer < side.layers.size(); ++layer) {
    std::array<double, source_groups.size()> sums{};
    double whole = 0;
    for (std::size_t row = layer * heads; row < (layer + 1) * heads; ++row) {
      const double weight = spread[row] * spread[row];
      if (!std::isfinite(weight) || !std::isfinite(shares[row * sources.size()])) continue;
      whole += weight;
      for (std::size_t s = 0; s < sources.size(); ++s)
        sums[group_of(sources[s])] += weight * shares[row * sources.size() + s];
    }
    for (std::size_t g = 0; g < sums.size(); ++g) side.share[g].push_back(whole > 0 ? sums[g] / whole : std::nan(""));
  }
  return side;
}

/// One group's piece of every bar: what is above 0 stacks to the right, what is below to the left.
DataTable bars_of(const SideShares& side, std::size_t group) {
  DataTable table = layer_bars();
  for (std::size_t layer = 0; layer < side.layers.size(); ++layer) {
    const double share = side.share[group][layer];
    if (!std::isfinite(share)) continue;
    double from = 0;
    for (std::size_t before = 0; before < group; ++before)
      if (side.share[before][layer] * share > 0) from += side.share[before][layer];
    add_bar(table, layer, std::min(from, from + share), std::max(from, from + share));
  }
  return table;
}

std::vector<LegendEntry> legend() {
  std::vector<LegendEntry> entries;
  for (std::size_t g = 0; g < source_groups.size(); ++g) entries.push_back({source_groups[g], {group_inks[g], 5.0}});
  return entries;
}

PanelGrid bars_grid(std::size_t layers, const FigureStyle& style) {
  PanelGrid grid;
  grid.columns = 2;
  grid.panel_width = 2.7;
  grid.panel_height =
      std::max(1.15, static_cast<double>(layers) * std::clamp(2.6 / static_cast<double>(layers), 0.1, 0.28));
  grid.gap_x = 0.3;
  grid.gap_y = 0.6;
  grid.left = 0.55;
  grid.right = 0.15;
  grid.top = 0.42;
  grid.bottom = 0.54;
  return with_legend_above(fitted(grid, 2, 1.9, style), legend(), style);
}

GnuplotFigure draw_score_sources(const Result& result, const FigureOptions& options) {
  const std::array sides{side_shares(result, query_share_name), side_shares(result, key_share_name)};
  const std::size_t layers = sides[0].layers.size();
  Page page(bars_grid(layers, options.style), options.style);
  page.legend(legend());
  DataTable numbers({"side", "layer", "source", "share"});
  double least = 0, most = 1;
  for (const SideShares& side : sides)
    for (std::size_t layer = 0; layer < layers; ++layer) {
      double below = 0, above = 0;
      for (const auto& share : side.share) (share[layer] < 0 ? below : above) += share[layer];
      least = std::fmin(least, below);
      most = std::fmax(most, above);
    }
  for (std::size_t s = 0; s < sides.size(); ++s) {
    Panel& panel = page.panel(s);
    add_layer_axis(panel, page.grid(), sides[s].layers, page.grid().column_of(s) == 0);
    panel.x_axis({least < 0 ? least - 0.02 : 0, most + 0.02}, {.step = 0.2, .first = least < 0 ? -1.0 : 0.0});
    panel.above(s == 0 ? "read by queries" : "read by keys", Anchor::left, {.points = 8, .bold = true, .up = 0.5});
    for (std::size_t g = 0; g < source_groups.size(); ++g) {
      if (const DataTable bars = bars_of(sides[s], g); !bars.rows().empty())
        panel.boxes(page.data(bars), "1:2:3:4:5:6", group_inks[g]);
      for (std::size_t layer = 0; layer < layers; ++layer)
        numbers.add_row(
            {s == 0 ? "queries" : "keys", sides[s].layers[layer], source_groups[g], sides[s].share[g][layer]});
    }
    DataTable zero({"share", "row", "across", "up"});
    zero.add_row({0.0, -0.5, 0.0, static_cast<double>(layers)});
    panel.strokes(page.data(zero), "1:2:3:4", {ink::zero_line, 0.7});
    panel.title_below("share of the layer's position kernels", 0.43);
  }
  page.keep(numbers);
  return page.figure();
}

/// Pairs of sources of the chosen heads.
struct SourceTables {
  std::vector<std::string> heads, sources;
  const std::vector<double>* shares = nullptr;  // (heads, query sources, key sources)

  [[nodiscard]] double at(std::size_t head, std::size_t query, std::size_t key) const {
    return (*shares)[(head * sources.size() + query) * sources.size() + key];
  }
  /// Sources that give a chosen head something on either side.
  [[nodiscard]] std::size_t last_of(std::size_t head) const {
    for (std::size_t s = sources.size(); s-- > 3;)
      for (std::size_t other = 0; other < sources.size(); ++other)
        if (at(head, s, other) != 0 || at(head, other, s) != 0) return s;
    return std::min<std::size_t>(2, sources.size() - 1);
  }
};

/// "attention 0" as "a0": the columns stand in the order of the rows.
std::string short_name(const std::string& source) {
  const auto space = source.find(' ');
  return source.substr(0, 1) + (space == std::string::npos ? "" : source.substr(space + 1));
}

SourceTables source_tables(const Result& result) {
  SourceTables tables;
  const Field& field = result.at(position_table_name);
  tables.shares = &doubles_of(result, position_table_name, {"source_head", "query_source", "key_source"});
  for (const std::string& label : labels_of(field, "source_head")) {
    const HeadName head = parse_head_name(label);  // the file is anybody's
    tables.heads.push_back(head_name(head.layer, head.head));
  }
  tables.sources = labels_of(field, "query_source");
  if (tables.heads.empty() || tables.sources.empty() ||
      tables.shares->size() != tables.heads.size() * tables.sources.size() * tables.sources.size())
    throw ShapeError(fmt::format("{}: expected a square of {} sources for each of {} heads, found {} numbers",
                                 position_table_name, tables.sources.size(), tables.heads.size(),
                                 tables.shares->size()));
  return tables;
}

GnuplotFigure draw_source_table(const Result& result, const FigureOptions& options) {
  const SourceTables tables = source_tables(result);
  std::vector<std::size_t> shown;
  for (std::size_t h = 0; h < tables.heads.size(); ++h)
    if (options.heads.empty() || std::ranges::find(options.heads, tables.heads[h]) != options.heads.end())
      shown.push_back(h);
  if (shown.empty())
    for (std::size_t h = 0; h < tables.heads.size(); ++h) shown.push_back(h);
  constexpr std::size_t most_tables = 6;
  shown.resize(std::min(shown.size(), most_tables));
  std::size_t last = 0;
  double largest = 0;
  for (const std::size_t h : shown) {
    last = std::max(last, tables.last_of(h));
    for (std::size_t q = 0; q < tables.sources.size(); ++q)
      for (std::size_t key = 0; key < tables.sources.size(); ++key)
        if (const double share = tables.at(h, q, key); std::isfinite(share)) largest = std::max(largest, share);
  }
  const std::size_t count = last + 1;
  PanelGrid grid;
  grid.panel_width = grid.panel_height = std::max(1.3, 0.17 * static_cast<double>(count));
  grid.gap_x = 0.25;
  grid.gap_y = 0.35;
  grid.left = 1.25;
  grid.right = 0.75;
  grid.top = 0.3;
  grid.bottom = 0.55;
  grid = fitted(flowing(grid, shown.size(), 3), shown.size(), 1.3, options.style);
  grid.panel_height = grid.panel_width;
  Page page(grid, options.style);
  DataTable numbers({"head", "query_source", "key_source", "share"});
  DataTable names({"place", "name", "short"});
  for (std::size_t s = 0; s < count; ++s)
    names.add_row({static_cast<double>(s), tables.sources[s], short_name(tables.sources[s])});
  const std::string named = page.data(names);
  const double bound = largest > 0 ? largest : 1;
  for (std::size_t k = 0; k < shown.size(); ++k) {
    const std::size_t head = shown[k];
    for (std::size_t q = 0; q < count; ++q)
      for (std::size_t key = 0; key < count; ++key)
        numbers.add_row({tables.heads[head], tables.sources[q], tables.sources[key], tables.at(head, q, key)});
    Panel& panel = page.panel(k);
    const double end = static_cast<double>(count) - 0.5;
    panel.x_axis({-0.5, end}, {.points = 7});
    panel.y_axis({end, -0.5}, {.points = 7});
    if (page.grid().is_lowest(k, shown.size()))
      panel.x_tic_names(named, 1, 3);
    else
      panel.without_x_tics();
    if (page.grid().column_of(k) == 0)
      panel.y_tic_names(named, 1, 2);
    else
      panel.without_y_tics();
    panel.above(tables.heads[head], Anchor::left, {.points = 8, .bold = true, .up = 0.5});
    panel.color_range({0, bound});
    const Cells cells{count, count,
                      [&](std::size_t column, std::size_t row) {
                        const double share = tables.at(head, row, column);
                        return std::isfinite(share) ? std::max(0.0, share) : std::nan("");
                      },
                      [](double column) { return column; }, [](double row) { return row; }};
    panel.heat_map(page.data(pixels(cells, 4, 4)));
    if (k == 0)
      panel.color_bar({.x = page.grid().width() - page.grid().right + 0.1,
                       .y = page.grid().panel_bottom(0),
                       .height = page.grid().panel_height,
                       .tics = {.step = tic_step(3 * bound), .points = 6, .away = 0.6},
                       .title = "share",
                       .title_right = 0.2});
  }
  page.keep(numbers);
  page.title_left("read by queries");
  page.title_below("read by keys");
  return page.figure();
}

}  // namespace

FigureKind score_sources_figure() {
  return {
      "score_sources",
      {query_share_name, key_share_name, kernel_sd_name},
      {},
      "What wrote what the heads of each layer read of positions: shares of their position kernels (mean score at "
      "each offset of one document's queries or keys with the mean keys or queries of others), all heads of a layer "
      "together, kernels counted by their variance over offsets. Shares of a bar add up to 1; what works against "
      "the kernel stands left of 0. Attention and feed-forward are those of all layers before; the result has each "
      "layer, and each head, by itself.",
      draw_score_sources};
}

FigureKind source_table_figure() {
  return {
      "source_table",
      {position_table_name},
      {},
      "Which pairs of sources give single heads their position kernel: share of it that a source read by the "
      "queries and a source read by the keys give together. All cells of a head add up to 1; columns stand in "
      "the order of the rows (a0: attention 0, f0: feed-forward 0). What is below 0 is drawn as 0, and stands in the "
      "numbers beside the figure.",
      draw_source_table};
}

}  // namespace headwave
