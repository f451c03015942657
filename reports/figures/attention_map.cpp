// Weights between the tokens of one text.
#include <cmath>

#include <fmt/format.h>

#include "../../core/errors/error.h"
#include "../drawing/visible_text.h"
#include "../tables/head_table.h"
#include "chosen_heads.h"

namespace headwave {

namespace {

constexpr const char* map_weight_name = "attention_map/weight";
constexpr double letters_fill = 0.93;  // of a cell

/// The tokens along one side of the maps, shortened and with invisible characters made visible.
struct MapSide {
  std::size_t stored = 0;
  std::vector<std::string> labels = {};
  std::vector<std::uint8_t> special = {};  // 1: a special token

  /// Room for the longest label, in inches, from a rough guess of the width of letters.
  [[nodiscard]] double room(double points) const {
    Index widest = 3;  // columns
    for (const std::string& label : labels) widest = std::max(widest, display_width(label));
    return 0.62 * static_cast<double>(widest) * points / 72.0 + 0.1;
  }
};

/// The part of the attention maps that a figure shows, the same for every head.
struct ShownMap {
  const std::vector<double>& weights;  // (maps, queries, keys)
  MapSide queries, keys;
  Index first = 0;         // position of the first query
  std::string document{};  // its name; empty: unknown

  [[nodiscard]] double weight(std::size_t map, std::size_t query, std::size_t key) const {
    return weights[(map * queries.stored + query) * keys.stored + key];
  }
  /// The largest weight of a map between tokens that are not special. Special tokens draw so much attention
  /// that nothing else would be visible beside them.
  [[nodiscard]] double largest(std::size_t map) const {
    double most = 0;
    for (std::size_t i = 0; i < queries.labels.size(); ++i)
      for (std::size_t j = 0; j < keys.labels.size(); ++j)
        if (queries.special[i] + keys.special[j] == 0 && std::isfinite(weight(map, i, j)))
          most = std::max(most, weight(map, i, j));
    return most;
  }
};

MapSide map_side(const Result& result, const char* axis, const std::string& token, const std::string& special,
                 Index tokens) {
  constexpr Index most_tokens = 256, longest_label = 12;  // columns
  MapSide side{static_cast<std::size_t>(result.at(map_weight_name).axis(axis).size())};
  for (const std::string& label : strings_of(result, token, {axis}))
    if (std::ssize(side.labels) < std::min(tokens, most_tokens))
      side.labels.push_back(shortened(visible_text(label), longest_label));
  if (side.labels.empty()) throw ShapeError(fmt::format("{}: contains no weight to draw", map_weight_name));
  side.special =
      result.find(special) == nullptr ? std::vector<std::uint8_t>(side.stored, 0) : flags_of(result, special, {axis});
  return side;
}

ShownMap shown_map(const Result& result, Index tokens) {
  const auto& weights = doubles_of(result, map_weight_name, {"map_head", "query", "key"});
  const Field& field = result.at(map_weight_name);
  return {weights, map_side(result, "query", "attention_map/token", "attention_map/special", tokens),
          map_side(result, "key", "attention_map/key_token", "attention_map/key_special", tokens),
          whole_coordinates(field, "query").front(), attribute_text(field.attributes, "document")};
}

/// The layout of a number of maps, with tokens or with positions at their axes.
FigurePanels map_panels(const ShownMap& map, std::size_t maps, bool named, double page) {
  const std::size_t rows = map.queries.labels.size(), columns = map.keys.labels.size();
  const double readable = static_cast<double>(columns) * least_letters / (72 * letters_fill);
  const double left = named ? map.queries.room(7) : 0.25, bottom = named ? map.keys.room(7) : 0.2;
  FigurePanels panels{.grid = {.panel = {.width = maps == 1 ? std::clamp(readable, 2.8, 7.0) : 2.1},
                               .gap = {0.12, 0.35},
                               .margin = {.left = 0.3 + left, .right = 0.7, .bottom = 0.3 + bottom}},
                      .in_row = maps == 4 ? 2U : 3U,
                      .least = named ? std::clamp(readable, 1.2, 2.0) : 1.2,
                      .flatness = static_cast<double>(rows) / static_cast<double>(columns),
                      .x = {.common = true, .title = named ? "key token" : "key position", .away = bottom + 0.16},
                      .y = {.common = true, .title = named ? "query token" : "query position", .away = left + 0.16}};
  const auto span = [&](const char* what, const MapSide& side) {
    return fmt::format("{} {} to {}", what, map.first, map.first + std::ssize(side.labels) - 1);
  };
  panels.notes = {rows == columns ? span("tokens", map.queries)
                                  : span("queries", map.queries) + ", " + span("keys", map.keys)};
  if (!map.document.empty()) {
    const auto letters = static_cast<Index>(grid_of(panels, maps, page).width() / 0.05) - 8;
    panels.notes.push_back("from: " + shortened(visible_text(map.document), std::max<Index>(20, letters)));
  }
  return panels;
}

/// Size of the letters of tokens, in points: a line of text is no higher than a cell.
double letters_of(const ShownMap& map, double inches) {
  return std::min(7.0, inches / static_cast<double>(map.keys.labels.size()) * 72 * letters_fill);
}

/// Puts the names of all tokens at the axes if they can be read, otherwise positions.
FigurePanels map_panels(const ShownMap& map, std::size_t maps, double page) {
  FigurePanels panels = map_panels(map, maps, true, page);
  const bool named = letters_of(map, grid_of(panels, maps, page).panel.width) >= least_letters;
  return named ? panels : map_panels(map, maps, false, page);
}

/// Names tokens, or positions a round step apart, at the left column and the lowest panel of each column.
void add_map_axes(Panel& panel, const ShownMap& map) {
  const bool named = panel.x.title == "key token";
  const double points = named ? letters_of(map, panel.width()) : 6;
  const auto names = [&](const MapSide& side) {
    Rows rows;
    const auto step = static_cast<Index>(std::max(1.0, tic_step(static_cast<double>(side.labels.size()))));
    for (Index i = 0; i < std::ssize(side.labels); ++i)
      if (named || (map.first + i) % step == 0)
        rows.push_back({i, named ? side.labels[static_cast<std::size_t>(i)] : fmt::format("{}", map.first + i)});
    return rows;
  };
  panel.tic_length = 0;
  panel.x.range = cells_across(map.keys.labels.size()).range;
  panel.y.range = cells_down(map.queries.labels.size()).range;
  panel.x.tics = {.points = points, .away = -0.1, .upward = named};
  panel.y.tics = {.points = points, .away = -0.4};
  panel.x.shown = panel.is_lowest();
  panel.y.shown = panel.is_leftmost();
  if (panel.is_lowest()) panel.x_tic_names(names(map.keys));
  if (panel.is_leftmost()) panel.y_tic_names(names(map.queries));
}

/// The maps to draw, as places along the axis `map_head`: those asked for; otherwise those of the strongest
/// heads of the table whose weights can be seen.
std::vector<std::size_t> chosen_maps(const ShownMap& map, const Result& result, const FigureOptions& options) {
  constexpr double worth_seeing = 0.1;  // share of the largest weight of all maps
  constexpr std::size_t most_maps = 9;
  const Field& field = result.at(map_weight_name);
  std::vector<std::size_t> maps;
  for (const std::string& head : options.heads) {
    (void)parse_head_name(head);
    maps.push_back(place_of(field, "map_head", head));
  }
  if (maps.empty()) {
    std::vector<HeadName> names;
    double largest = 0;
    for (const std::string& name : labels_of(field, "map_head")) {
      names.push_back(parse_head_name(name));
      largest = std::max(largest, map.largest(names.size() - 1));
    }
    maps = table_order(result, names);
    std::erase_if(maps, [&](std::size_t one) { return map.largest(one) < worth_seeing * largest; });
    maps.resize(std::min(maps.size(), most_maps));
  }
  return maps;
}

Figure draw_attention_map(const Result& result, const FigureOptions& options) {
  const ShownMap map = shown_map(result, options.tokens);
  const auto maps = chosen_maps(map, result, options);
  const auto& names = labels_of(result.at(map_weight_name), "map_head");
  const std::size_t rows = map.queries.labels.size(), columns = map.keys.labels.size();
  double largest = 0;
  for (const std::size_t one : maps) largest = std::max(largest, map.largest(one));
  if (!(largest > 0)) largest = 1;
  FigurePanels panels = map_panels(map, maps.size(), options.width);
  panels.of = names.size();
  if (options.heads.empty()) panels.chosen = ", the strongest";
  panels.fill = [&](Panel& panel, std::size_t k) {
    const std::size_t one = maps[k], block = std::clamp<std::size_t>(128 / std::max(rows, columns), 1, 8);
    const HeadName name = parse_head_name(names[one]);
    panel.note(head_name(name.layer, name.head), panel.over(panel.width() / 2, 0.12),
               {.points = 9, .bold = true, .anchor = Anchor::center});
    panel.note(fmt::format("{:.2g}", map.largest(one)), panel.over(panel.width(), 0.12),
               {.points = 6, .ink = ink::number, .anchor = Anchor::right});
    ColorBar bar = amount_bar(largest, "attention weight", 0.07);
    bar.common = true;
    if (k == 0) panel.color_bar(bar);
    const auto weight = [&](std::size_t key, std::size_t query) { return map.weight(one, query, key); };
    panel.heat_map({columns, rows, weight, block, block}, {0, largest});
    add_map_axes(panel, map);
    const std::array ends{-0.5, static_cast<double>(std::min(rows, columns)) - 0.5};
    panel.curve(ends, ends, {ink::guide, 1, "-"});
  };
  return drawn_panels(panels, maps.size(), options.width);
}

/// Why the heads asked for are not drawn: the run kept no map of one of them.
std::string no_map(const Result& result, const FigureOptions& options) {
  const auto& kept = labels_of(result.at(map_weight_name), "map_head");
  for (const std::string& head : options.heads)
    if (std::ranges::find(kept, head) == kept.end()) return "the run kept no attention map of " + head;
  return "";
}

}  // namespace

std::vector<FigureKind> map_figures() {
  return {
      {.name = "attention_map",
       .fields = {map_weight_name, "attention_map/token", "attention_map/key_token"},
       .extras = {"attention_map/special", "attention_map/key_special"},
       .caption =
           "Attention weights of single heads over a window of one text. Rows are queries and sum to 1 over all keys "
           "of the text, not only those shown. All panels share one colour scale, from 0 to the largest weight "
           "between tokens that are not special; special ones may lie above it. The number above a panel is its own "
           "largest such weight. The dotted line marks offset 0. Long tokens end in an ellipsis; positions stand "
           "where tokens could not be read.",
       .drawing = draw_attention_map,
       .silent = no_map,
       .single_heads = true}};
}

}  // namespace headwave
