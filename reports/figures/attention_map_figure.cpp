#include "attention_map_figure.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "../../core/fields/head_name.h"
#include "../drawing/field_values.h"
#include "../drawing/palette.h"
#include "../drawing/panels.h"
#include "../drawing/visible_text.h"

namespace headwave {

namespace {

constexpr const char* weight_name = "attention_map/weight";
constexpr std::size_t most_panels = 9;
constexpr Index most_tokens = 256;
constexpr Index longest_label = 12;    // columns
constexpr double smallest_text = 3.0;  // points; smaller labels give way to positions

/// What the panels have in common.
struct Map {
  const std::vector<double>* weights = nullptr;  // (heads, queries, keys)
  Index queries = 0, keys = 0;                   // stored
  Index rows = 0, columns = 0;                   // shown
  std::vector<std::string> query_labels, key_labels;

  [[nodiscard]] double weight(std::size_t head, Index query, Index key) const {
    return (*weights)[head * static_cast<std::size_t>(queries * keys) + static_cast<std::size_t>(query * keys + key)];
  }
};

Map map_of(const Result& result, Index tokens) {
  const Field& field = result.at(weight_name);
  Map map;
  map.weights = &doubles_of(result, weight_name, {"map_head", "query", "key"});
  const auto queries = whole_coordinates(field, "query");
  const auto keys = whole_coordinates(field, "key");
  const auto& texts = strings_of(result, "attention_map/token", {"query"});
  map.queries = static_cast<Index>(queries.size());
  map.keys = static_cast<Index>(keys.size());
  map.rows = std::min({tokens, map.queries, most_tokens});
  map.columns = std::min({tokens, map.keys, most_tokens});
  if (map.rows < 1 || map.columns < 1 || map.weights->empty())
    throw ShapeError(fmt::format("{}: holds no weights to draw", weight_name));
  if (static_cast<Index>(texts.size()) != map.queries)
    throw ShapeError(
        fmt::format("attention_map/token: expected {} tokens, one per query, found {}", map.queries, texts.size()));
  const auto& key_texts = strings_of(result, "attention_map/key_token", {"key"});
  if (static_cast<Index>(key_texts.size()) != map.keys)
    throw ShapeError(
        fmt::format("attention_map/key_token: expected {} tokens, one per key, found {}", map.keys, key_texts.size()));
  map.query_labels.assign(texts.begin(), texts.begin() + map.rows);
  map.key_labels.assign(key_texts.begin(), key_texts.begin() + map.columns);
  return map;
}

/// The strongest head of every offset first, then the others by strength: heads of one offset look alike.
/// @param offsets, strengths  one per map; an offset may be NaN, which is a kind of its own
std::vector<std::size_t> most_telling(const std::vector<double>& offsets, const std::vector<double>& strengths) {
  std::vector<std::size_t> order(offsets.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return strengths[a] > strengths[b]; });
  std::set<double> seen;
  bool seen_flat = false;
  std::stable_partition(order.begin(), order.end(), [&](std::size_t map) {
    return std::isnan(offsets[map]) ? !std::exchange(seen_flat, true) : seen.insert(offsets[map]).second;
  });
  order.resize(std::min(order.size(), most_panels));
  std::sort(order.begin(), order.end());
  return order;
}

/// Which maps to draw: the ones asked for, or all there are, of many the most telling ones.
std::vector<std::size_t> chosen(const Result& result, const FigureOptions& options) {
  const Field& field = result.at(weight_name);
  const auto& names = labels_of(field, "map_head");
  std::vector<std::size_t> maps;
  for (const std::string& head : options.heads) {
    (void)parse_head_name(head);
    maps.push_back(place_of(field, "map_head", head));
  }
  if (!maps.empty()) return maps;

  maps.resize(names.size());
  std::iota(maps.begin(), maps.end(), std::size_t{0});
  if (maps.size() > most_panels && result.find("measured_offset/weight") != nullptr) {
    const auto offset = head_doubles(result, "measured_offset/offset", options.pairs);
    const auto strength = head_doubles(result, "measured_offset/weight", options.pairs);
    const auto heads = static_cast<std::size_t>(result.at("measured_offset/weight").axis("head").size());
    std::vector<double> offsets, strengths;
    for (const std::string& name : names) {
      const HeadName head = parse_head_name(name);
      const auto at = static_cast<std::size_t>(head.layer) * heads + static_cast<std::size_t>(head.head);
      const bool known = static_cast<std::size_t>(head.head) < heads && at < strength.size();
      offsets.push_back(known ? offset[at] : std::nan(""));
      strengths.push_back(known && !std::isnan(strength[at]) ? strength[at] : 0.0);
    }
    return most_telling(offsets, strengths);
  }
  maps.resize(std::min(maps.size(), most_panels));
  return maps;
}

double largest_of(const Map& map, std::size_t head) {
  double largest = 0.0;
  for (Index i = 0; i < map.rows; ++i)
    for (Index j = 0; j < map.columns; ++j)
      if (const double weight = map.weight(head, i, j); std::isfinite(weight)) largest = std::max(largest, weight);
  return largest > 0 ? largest : 1.0;
}

DataTable numbers_of(const Map& map, std::size_t head, const HeadName& name) {
  DataTable table({"layer", "head", "query", "key", "query_token", "key_token", "weight"});
  for (Index i = 0; i < map.rows; ++i)
    for (Index j = 0; j < map.columns; ++j)
      table.add_row({name.layer, name.head, i, j, map.query_labels[static_cast<std::size_t>(i)],
                     map.key_labels[static_cast<std::size_t>(j)], map.weight(head, i, j)});
  return table;
}

/// The same weights with every cell as a block of pixels: viewers that smooth small images then soften edges only.
DataTable pixels_of(const Map& map, std::size_t head) {
  const Index block = std::clamp<Index>(128 / std::max(map.rows, map.columns), 1, 8);
  const auto center = [block](Index pixel) {
    return (static_cast<double>(pixel) + 0.5) / static_cast<double>(block) - 0.5;
  };
  DataTable table({"key", "query", "weight"});
  for (Index y = 0; y < map.rows * block; ++y)
    for (Index x = 0; x < map.columns * block; ++x)
      table.add_row({center(x), center(y), map.weight(head, y / block, x / block)});
  return table;
}

DataTable labels_table(const std::vector<std::string>& labels) {
  DataTable table({"position", "label"});
  for (std::size_t i = 0; i < labels.size(); ++i)
    table.add_row({static_cast<Index>(i), shortened(visible_text(labels[i]), longest_label)});
  return table;
}

/// Room for the longest label, in inches, by a rough table of how wide letters are.
double room_for(const std::vector<std::string>& labels, double points) {
  double widest = 2.0;  // em
  for (const std::string& label : labels) {
    const std::string text = shortened(visible_text(label), longest_label);
    double width = 0.0;
    for (const char c : text)
      if (std::string_view("mwMW@%").find(c) != std::string_view::npos)
        width += 0.84;
      else if (std::string_view("fijlrtI.,:;'|!()[] ").find(c) != std::string_view::npos)
        width += 0.4;
      else if ((c & 0x80) == 0)
        width += 0.62;
    for (const char c : text)  // a character of several bytes counts at its first
      if ((static_cast<unsigned char>(c) & 0xC0U) == 0xC0) width += 1.0;
    widest = std::max(widest, width);
  }
  return widest * points / 72.0 + 0.1;
}

/// A colour bar of the panel's height on its right, with four to six round tics from zero.
std::string color_bar(const PanelGrid& grid, Index row, Index column, double largest) {
  const double x = grid.panel_left(column) + grid.panel_width + 0.07;
  return fmt::format(
      "set colorbox vertical user origin {} size {:.6f},{:.6f} border\n"
      "set cbrange [0:{}]\nset cbtics 0,{} font \"sans-serif,6\" offset -0.6,0 scale 0.4\n"
      "set cblabel \"attention weight\" font \"sans-serif,6.5\" offset -0.8,0",
      grid.page(x, grid.panel_bottom(row)), 0.08 / grid.width(), grid.panel_height / grid.height(), largest,
      tic_step(largest));
}

/// What is the same for all panels.
struct Layout {
  PanelGrid grid;
  std::size_t panels = 1;
  double points = 7.0;  ///< size of the tokens' letters
  std::string query_file, key_file;
  [[nodiscard]] bool legible() const { return points >= smallest_text; }
};

Layout layout_of(const Map& map, std::size_t panels) {
  Layout layout;
  layout.panels = panels;
  PanelGrid& grid = layout.grid;
  const auto count = static_cast<Index>(panels);
  grid.columns = count == 4 ? 2 : std::min<Index>(3, count);
  grid.rows = (count + grid.columns - 1) / grid.columns;
  grid.panel_width = panels == 1 ? 2.8 : 2.1;
  const double cell = grid.panel_width / static_cast<double>(map.columns);
  grid.panel_height = cell * static_cast<double>(map.rows);
  layout.points = std::min(7.0, cell * 72 * 0.8);
  grid.gap_x = 0.75;
  grid.gap_y = 0.35;
  grid.left = 0.3 + (layout.legible() ? room_for(map.query_labels, layout.points) : 0.25);
  grid.bottom = 0.3 + (layout.legible() ? room_for(map.key_labels, layout.points) : 0.2);
  grid.right = 0.65;
  grid.top = 0.3;
  return layout;
}

/// Panel k. Labels stand at the left column, and at the lowest panel of each column, which need not be in the last row.
void add_panel(GnuplotFigure& figure, const Layout& layout, std::size_t k, const HeadName& name, const Map& map,
               std::size_t head) {
  const PanelGrid& grid = layout.grid;
  const auto row = static_cast<Index>(k) / grid.columns;
  const auto column = static_cast<Index>(k) % grid.columns;
  const bool leftmost = column == 0;
  const bool lowest = k + static_cast<std::size_t>(grid.columns) >= layout.panels;
  figure.add(grid.place(row, column));
  figure.add(color_bar(grid, row, column, largest_of(map, head)));
  figure.add(fmt::format(
      "set label 90 \"{}\" at {} center font \"sans-serif:Bold,9\"", head_name(name.layer, name.head),
      grid.page(grid.panel_left(column) + grid.panel_width / 2, grid.panel_bottom(row) + grid.panel_height + 0.12)));
  figure.add(lowest ? grid.title_below(row, column, layout.legible() ? "key token" : "key position", grid.bottom - 0.14)
                    : "unset label 91");
  figure.add(leftmost
                 ? grid.title_left(row, column, layout.legible() ? "query token" : "query position", grid.left - 0.14)
                 : "unset label 92");

  figure.keep(numbers_of(map, head, name));
  std::string plot = fmt::format("plot \"{}\" using 1:2:3 with image", figure.add_data(pixels_of(map, head)));
  figure.add("unset xtics\nunset ytics");
  const double step = tic_step(static_cast<double>(map.columns));
  if (leftmost && !layout.legible()) figure.add(fmt::format("set ytics {} font \"sans-serif,6\"", step));
  if (lowest && !layout.legible()) figure.add(fmt::format("set xtics {} font \"sans-serif,6\"", step));
  // The tokens come as tic labels of points far outside.
  if (leftmost && layout.legible()) {
    figure.add(fmt::format("set ytics font \"sans-serif,{:.1f}\" offset 0.4,0", layout.points));
    plot += fmt::format(", \"{}\" using (-9):1:yticlabels(2) with dots lc rgb \"#ffffff\"", layout.query_file);
  }
  if (lowest && layout.legible()) {
    figure.add(fmt::format("set xtics rotate by 90 right font \"sans-serif,{:.1f}\" offset 0,0.1", layout.points));
    plot += fmt::format(", \"{}\" using 1:(-9):xticlabels(2) with dots lc rgb \"#ffffff\"", layout.key_file);
  }
  figure.add(plot + ", x with lines lc rgb \"#60ffffff\" dt \"-\" lw 1");
}

}  // namespace

GnuplotFigure attention_map_figure(const Result& result, const FigureOptions& options) {
  const Map map = map_of(result, options.tokens);
  const auto heads = chosen(result, options);
  const auto& names = labels_of(result.at(weight_name), "map_head");
  Layout layout = layout_of(map, heads.size());
  GnuplotFigure figure(layout.grid.width(), layout.grid.height());
  layout.query_file = figure.add_data(labels_table(map.query_labels));
  layout.key_file = figure.add_data(labels_table(map.key_labels));
  figure.add(house_style());
  figure.add(sequential_palette());
  figure.add("set multiplot\nset tics scale 0.3,0.1");
  figure.add(fmt::format("set xrange [-0.5:{}]\nset yrange [{}:-0.5]", static_cast<double>(map.columns) - 0.5,
                         static_cast<double>(map.rows) - 0.5));
  for (std::size_t k = 0; k < heads.size(); ++k)
    add_panel(figure, layout, k, parse_head_name(names[heads[k]]), map, heads[k]);
  figure.add("unset multiplot");
  return figure;
}

}  // namespace headwave
