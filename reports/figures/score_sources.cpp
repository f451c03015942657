// What wrote what heads read: by layer, and in pairs of sources for single heads.
#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include <fmt/format.h>

#include "../../core/errors/error.h"
#include "../../core/fields/field_reader.h"
#include "../drawing/page.h"
#include "kinds.h"
#include "layer_bars.h"

namespace headwave {

namespace {

constexpr const char *query_share_name = "score_sources/position_query", *key_share_name = "score_sources/position_key",
                     *kernel_sd_name = "score_sources/kernel_sd", *source_table_name = "score_sources/position_table";

/// Sources as the bars tell them apart.
constexpr std::array source_groups{"words", "positions", "constants", "attention before", "feed-forward before"};
const std::array group_inks{categorical(4), categorical(0), ink::rest, categorical(1), categorical(2)};

std::size_t group_of(const std::string& source) {
  for (std::size_t g = 0; g < 3; ++g)
    if (source == source_groups[g]) return g;
  return source.starts_with("feed-forward") ? 4 : 3;
}

/// (layers)  for every group; of all heads of a layer together: kernels count by their variance, as shares do.
using GroupShares = std::array<std::vector<double>, source_groups.size()>;

GroupShares group_shares(const Result& result, const char* name) {
  const auto& shares = doubles_of(result, name, {"layer", "head", "source"});
  const auto& spread = doubles_of(result, kernel_sd_name, {"layer", "head"});
  const auto& sources = labels_of(result.at(name), "source");
  const auto layers = static_cast<std::size_t>(result.at(name).axis("layer").size());
  const std::size_t heads = spread.size() / layers;
  GroupShares groups;
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
    for (std::size_t g = 0; g < sums.size(); ++g) groups[g].push_back(whole > 0 ? sums[g] / whole : std::nan(""));
  }
  return groups;
}

/// One group's piece of every bar: what is above 0 stacks to the right, what is below to the left.
DataTable group_bars(const GroupShares& groups, std::size_t group) {
  DataTable table = layer_bars();
  for (std::size_t layer = 0; layer < groups[group].size(); ++layer) {
    const double share = groups[group][layer];
    if (!std::isfinite(share)) continue;
    double from = 0;
    for (std::size_t before = 0; before < group; ++before)
      if (groups[before][layer] * share > 0) from += groups[before][layer];
    add_bar(table, layer, std::min(from, from + share), std::max(from, from + share));
  }
  return table;
}

GnuplotFigure draw_score_sources(const Result& result, const FigureOptions& options) {
  const std::array sides{group_shares(result, query_share_name), group_shares(result, key_share_name)};
  const auto layers = whole_coordinates(result.at(query_share_name), "layer");
  const auto down = static_cast<double>(layers.size());
  std::vector<LegendEntry> legend;
  for (std::size_t g = 0; g < source_groups.size(); ++g) legend.push_back({source_groups[g], {group_inks[g], 5.0}});
  const PanelGrid grid{.columns = 2,
                       .panel = {2.7, std::max(1.15, down * std::clamp(2.6 / down, 0.1, 0.28))},
                       .gap = {0.3, 0.6},
                       .margin = {.left = 0.55, .right = 0.15, .top = 0.42, .bottom = 0.54}};
  Page page(with_legend_above(fitted(grid, 2, 1.9, options.style), legend, options.style), options.style);
  page.legend(legend);
  double least = 0, most = 1;
  for (const GroupShares& side : sides)
    for (std::size_t layer = 0; layer < layers.size(); ++layer) {
      double below = 0, above = 0;
      for (const auto& share : side) (share[layer] < 0 ? below : above) += share[layer];
      least = std::fmin(least, below);
      most = std::fmax(most, above);
    }
  DataTable numbers({"side", "layer", "source", "share"});
  for (std::size_t s = 0; s < sides.size(); ++s) {
    Panel& panel = page.panel(s);
    add_layer_axis(panel, page.grid(), layers, page.grid().column_of(s) == 0);
    panel.x_axis({least < 0 ? least - 0.02 : 0, most + 0.02}, {.step = 0.2, .first = least < 0 ? -1.0 : 0.0});
    panel.above(s == 0 ? "read by queries" : "read by keys", Anchor::left, {.points = 8, .bold = true, .up = 0.5});
    for (std::size_t g = 0; g < source_groups.size(); ++g) {
      if (const DataTable bars = group_bars(sides[s], g); !bars.rows().empty())
        panel.boxes(page.data(bars), "1:2:3:4:5:6", group_inks[g]);
      for (std::size_t layer = 0; layer < layers.size(); ++layer)
        numbers.add_row({s == 0 ? "queries" : "keys", layers[layer], source_groups[g], sides[s][g][layer]});
    }
    DataTable zero({"share", "row", "across", "up"});
    zero.add_row({0.0, -0.5, 0.0, down});
    panel.strokes(page.data(zero), "1:2:3:4", {ink::zero_line, 0.7});
    panel.title_below("share of the layer's position kernels", 0.43);
  }
  page.keep(numbers);
  return page.figure();
}

/// Pairs of sources of the chosen heads.
struct SourceTables {
  std::vector<std::string> heads, sources;
  const std::vector<double>& shares;  // (heads, query sources, key sources)

  [[nodiscard]] double at(std::size_t head, std::size_t query, std::size_t key) const {
    return shares[(head * sources.size() + query) * sources.size() + key];
  }
  /// The last source that gives a head something on either side.
  [[nodiscard]] std::size_t last_of(std::size_t head) const {
    for (std::size_t s = sources.size(); s-- > 3;)
      for (std::size_t other = 0; other < sources.size(); ++other)
        if (at(head, s, other) != 0 || at(head, other, s) != 0) return s;
    return std::min<std::size_t>(2, sources.size() - 1);
  }
};

/// "attention 0" as "a0": the columns stand in the order of the rows.
std::string short_source(const std::string& source) {
  const auto space = source.find(' ');
  return source.substr(0, 1) + (space == std::string::npos ? "" : source.substr(space + 1));
}

SourceTables source_tables(const Result& result) {
  const Field& field = result.at(source_table_name);
  SourceTables tables{{},
                      labels_of(field, "query_source"),
                      doubles_of(result, source_table_name, {"source_head", "query_source", "key_source"})};
  for (const std::string& label : labels_of(field, "source_head")) {
    const HeadName head = parse_head_name(label);  // the file is anybody's
    tables.heads.push_back(head_name(head.layer, head.head));
  }
  if (field.axis("key_source").size() != std::ssize(tables.sources))
    throw ShapeError(fmt::format("{}: expected as many sources of queries as of keys, found {} and {}",
                                 source_table_name, tables.sources.size(), field.axis("key_source").size()));
  return tables;
}

GnuplotFigure draw_source_table(const Result& result, const FigureOptions& options) {
  constexpr std::size_t most_tables = 6;
  const SourceTables tables = source_tables(result);
  std::vector<std::size_t> shown;
  for (std::size_t h = 0; h < tables.heads.size(); ++h)
    if (std::ranges::find(options.heads, tables.heads[h]) != options.heads.end()) shown.push_back(h);
  if (shown.empty()) {  // none of those asked for, or none asked for
    shown.resize(tables.heads.size());
    std::iota(shown.begin(), shown.end(), std::size_t{0});
  }
  shown.resize(std::min(shown.size(), most_tables));
  std::size_t last = 0;
  double largest = 0;
  for (const std::size_t h : shown) {
    last = std::max(last, tables.last_of(h));
    for (const double share : slice_of(tables.shares, h, tables.sources.size() * tables.sources.size()))
      if (std::isfinite(share)) largest = std::max(largest, share);
  }
  const std::size_t count = last + 1;
  const double bound = largest > 0 ? largest : 1, side = std::max(1.3, 0.17 * static_cast<double>(count));
  PanelGrid grid{
      .panel = {side, side}, .gap = {0.25, 0.35}, .margin = {.left = 1.25, .right = 0.75, .top = 0.3, .bottom = 0.55}};
  grid = fitted(flowing(grid, shown.size(), 3), shown.size(), 1.3, options.style);
  grid.panel.height = grid.panel.width;
  Page page(grid, options.style);
  DataTable numbers({"head", "query_source", "key_source", "share"}), names({"place", "name", "short"});
  for (std::size_t s = 0; s < count; ++s) names.add_row({s, tables.sources[s], short_source(tables.sources[s])});
  const std::string named = page.data(names);
  for (std::size_t k = 0; k < shown.size(); ++k) {
    const std::size_t head = shown[k];
    for (std::size_t q = 0; q < count; ++q)
      for (std::size_t key = 0; key < count; ++key)
        numbers.add_row({tables.heads[head], tables.sources[q], tables.sources[key], tables.at(head, q, key)});
    Panel& panel = page.panel(k);
    panel.x_cells(count, {.points = 7});
    panel.y_cells(count, {.points = 7});
    if (grid.is_lowest(k, shown.size()))
      panel.x_tic_names(named, 1, 3);
    else
      panel.without_x_tics();
    if (grid.column_of(k) == 0)
      panel.y_tic_names(named, 1, 2);
    else
      panel.without_y_tics();
    panel.above(tables.heads[head], Anchor::left, {.points = 8, .bold = true, .up = 0.5});
    panel.color_range({0, bound});
    const auto share = [&](std::size_t key, std::size_t query) {
      const double found = tables.at(head, query, key);
      return std::isfinite(found) ? std::max(0.0, found) : std::nan("");
    };
    panel.heat_map(page.data(pixels({count, count, share}, 4, 4)));
    if (k == 0)
      panel.color_bar({.away = grid.width() - grid.margin.right + 0.1 - grid.margin.left - grid.panel.width,
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
  return {"score_sources",
          {query_share_name, key_share_name, kernel_sd_name},
          {},
          "What wrote what the heads of each layer read of positions: shares of their position kernels (mean score at "
          "each offset of one document's queries or keys with the mean keys or queries of others), all heads of a "
          "layer together, kernels counted by their variance over offsets. Shares of a bar add up to 1; what works "
          "against the kernel stands left of 0. Attention and feed-forward are those of all layers before; the result "
          "has each layer, and each head, by itself.",
          draw_score_sources};
}

FigureKind source_table_figure() {
  return {"source_table",
          {source_table_name},
          {},
          "Which pairs of sources give single heads their position kernel: share of it that a source read by the "
          "queries and a source read by the keys give together. All cells of a head add up to 1; columns stand in the "
          "order of the rows (a0: attention 0, f0: feed-forward 0). What is below 0 is drawn as 0, and stands in the "
          "numbers beside the figure.",
          draw_source_table};
}

}  // namespace headwave
