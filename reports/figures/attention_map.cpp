#include <cmath>

#include <fmt/format.h>

#include "../../core/errors/error.h"
#include "../../core/fields/field_reader.h"
#include "../drawing/page.h"
#include "../drawing/visible_text.h"
#include "chosen_heads.h"
#include "kinds.h"

namespace headwave {

namespace {

constexpr const char* map_weight_name = "attention_map/weight";
constexpr Index most_tokens = 256;
constexpr std::size_t most_maps = 9;
constexpr Index longest_label = 12;    // columns
constexpr double widest_map = 7.0;     // inches
constexpr double letters_fill = 0.93;  // of a cell

/// The part of a result's attention maps that a figure shows, the same of every head.
struct ShownMap {
  const std::vector<double>* weights = nullptr;  // (maps, queries, keys)
  std::size_t maps = 0, queries = 0, keys = 0;   // stored
  std::size_t rows = 0, columns = 0;             // shown
  Index first = 0;                               // position
  std::vector<std::string> query_labels, key_labels;
  std::vector<std::uint8_t> query_special, key_special;  // 1: a special token
  std::string document;                                  // its name; empty: the result does not say

  [[nodiscard]] double weight(std::size_t map, std::size_t query, std::size_t key) const {
    return (*weights)[(map * queries + query) * keys + key];
  }
  /// The largest weight of each map between tokens that are not special: special tokens draw so much
  /// attention that beside it nothing else would be seen.
  [[nodiscard]] std::vector<double> largest() const {
    std::vector<double> most(maps, 0.0);
    for (std::size_t map = 0; map < maps; ++map)
      for (std::size_t i = 0; i < rows; ++i)
        for (std::size_t j = 0; j < columns; ++j)
          if (query_special[i] + key_special[j] == 0 && std::isfinite(weight(map, i, j)))
            most[map] = std::max(most[map], weight(map, i, j));
    return most;
  }
};

std::vector<std::uint8_t> special_tokens(const Result& result, const char* name, const char* axis, std::size_t all) {
  return result.find(name) == nullptr ? std::vector<std::uint8_t>(all, 0) : flags_of(result, name, {axis});
}

/// The first tokens as labels: shortened, with invisible characters shown.
std::vector<std::string> token_labels(const Result& result, const char* name, const char* axis, std::size_t shown) {
  std::vector<std::string> labels = strings_of(result, name, {axis});
  labels.resize(shown);
  return labels;
}

std::string label_text(const std::string& token) {
  return shortened(visible_text(token), longest_label);
}

ShownMap shown_map(const Result& result, Index tokens) {
  const Field& field = result.at(map_weight_name);
  ShownMap map;
  map.weights = &doubles_of(result, map_weight_name, {"map_head", "query", "key"});
  const auto queries = whole_coordinates(field, "query");
  map.maps = labels_of(field, "map_head").size();
  map.queries = queries.size();
  map.keys = static_cast<std::size_t>(field.axis("key").size());
  const auto most = static_cast<std::size_t>(std::clamp(tokens, Index{0}, most_tokens));
  map.rows = std::min(most, map.queries);
  map.columns = std::min(most, map.keys);
  if (map.rows < 1 || map.columns < 1) throw ShapeError(fmt::format("{}: holds no weights to draw", map_weight_name));
  map.first = queries.front();
  map.document = attribute_text(field.attributes, "document");
  map.query_special = special_tokens(result, "attention_map/special", "query", map.queries);
  map.key_special = special_tokens(result, "attention_map/key_special", "key", map.keys);
  map.query_labels = token_labels(result, "attention_map/token", "query", map.rows);
  map.key_labels = token_labels(result, "attention_map/key_token", "key", map.columns);
  return map;
}

DataTable map_numbers(const ShownMap& map, std::size_t head, const HeadName& name) {
  DataTable table({"layer", "head", "query", "key", "query_token", "key_token", "weight"});
  for (std::size_t i = 0; i < map.rows; ++i)
    for (std::size_t j = 0; j < map.columns; ++j)
      table.add_row({name.layer, name.head, map.first + static_cast<Index>(i), map.first + static_cast<Index>(j),
                     map.query_labels[i], map.key_labels[j], map.weight(head, i, j)});
  return table;
}

/// Room for the longest label, in inches, by a rough table of how wide letters are.
double room_for(const std::vector<std::string>& labels, double points) {
  double widest = 2.0;  // em
  for (const std::string& label : labels) {
    double width = 0.0;
    for (const char c : label_text(label))
      if (std::string_view("mwMW@%").find(c) != std::string_view::npos)
        width += 0.84;
      else if (std::string_view("fijlrtI.,:;'|!()[] ").find(c) != std::string_view::npos)
        width += 0.4;
      else if ((c & 0x80) == 0)
        width += 0.62;
      else if ((static_cast<unsigned char>(c) & 0xC0U) == 0xC0)  // a character of several bytes counts at its first
        width += 1.0;
    widest = std::max(widest, width);
  }
  return widest * points / 72.0 + 0.1;
}

/// What is the same for all panels.
struct Layout {
  PanelGrid grid;
  double points = 7.0;                           ///< size of the tokens' letters
  bool legible = true;                           ///< tokens are named; else their positions
  std::vector<std::string> notes = {};           ///< below all panels
  std::string query_names = {}, key_names = {};  ///< data: what stands at the tics
};

/// Which tokens are shown, and of which document.
std::vector<std::string> map_notes(const ShownMap& map, double width) {
  constexpr double letter = 0.05;
  const auto span = [&](const char* what, std::size_t count) {
    return fmt::format("{} {} to {}", what, map.first, map.first + static_cast<Index>(count) - 1);
  };
  std::vector<std::string> notes{map.rows == map.columns
                                     ? span("tokens", map.rows)
                                     : span("queries", map.rows) + ", " + span("keys", map.columns)};
  const Index columns = std::max<Index>(20, static_cast<Index>(width / letter) - 8);
  if (!map.document.empty()) notes.push_back("from: " + shortened(visible_text(map.document), columns));
  return note_lines(notes, width);
}

Layout layout_of(const ShownMap& map, std::size_t panels, const FigureStyle& style) {
  const auto columns = static_cast<double>(map.columns);
  const double readable = columns * legible(0, style) / (72 * letters_fill);
  Layout layout{{.panel = {.width = panels == 1 ? std::clamp(readable, 2.8, widest_map) : 2.1},
                 .gap = {0.12, 0.35},
                 .margin = {.right = 0.7, .top = 0.3}}};
  PanelGrid& grid = layout.grid;
  grid = flowing(grid, panels, panels == 4 ? 2 : 3);
  // How large letters are follows from how broad a panel is, and how much room is left for it from them.
  for (int pass = 0; pass < 2; ++pass) {
    layout.points = std::min(7.0, grid.panel.width / columns * 72 * letters_fill);
    layout.legible = layout.points >= legible(0, style);
    grid.margin.left = 0.3 + (layout.legible ? room_for(map.query_labels, layout.points) : 0.25);
    grid.margin.bottom = 0.3 + (layout.legible ? room_for(map.key_labels, layout.points) : 0.2);
    if (pass == 0) grid = fitted(grid, panels, std::clamp(readable, 1.2, 2.0), style);
  }
  grid = fitted(grid, panels, 1.0, style);
  grid.panel.height = grid.panel.width / columns * static_cast<double>(map.rows);
  layout.notes = map_notes(map, grid.width());
  grid.margin.bottom += note_line * static_cast<double>(layout.notes.size());
  return layout;
}

/// The names at the tics of one side: every token, or where these could not be read, positions a round step
/// apart.
DataTable tic_names(const Layout& layout, const std::vector<std::string>& tokens, Index first) {
  DataTable table({"place", "name"});
  const auto step =
      layout.legible ? 1 : static_cast<Index>(std::max(1.0, tic_step(static_cast<double>(tokens.size()))));
  for (Index i = 0; i < std::ssize(tokens); ++i)
    if (layout.legible)
      table.add_row({i, label_text(tokens[static_cast<std::size_t>(i)])});
    else if ((first + i) % step == 0)
      table.add_row({i, fmt::format("{}", first + i)});
  return table;
}

/// Tokens or positions at the left column, and at the lowest panel of each column.
void add_map_axes(Panel& panel, const Layout& layout, const ShownMap& map) {
  const PanelGrid& grid = layout.grid;
  panel.tic_length(0);
  panel.x_cells(map.columns, {.points = layout.legible ? layout.points : 6, .away = -0.1, .upward = layout.legible});
  panel.y_cells(map.rows, {.points = layout.legible ? layout.points : 6, .away = -0.4});
  if (panel.is_lowest()) {
    panel.title_below(layout.legible ? "key token" : "key position",
                      grid.margin.bottom - note_line * static_cast<double>(layout.notes.size()) - 0.14);
    panel.x_tic_names(layout.key_names, 1, 2);
  } else {
    panel.without_x_tics();
  }
  if (panel.is_leftmost()) {
    panel.title_left(layout.legible ? "query token" : "query position", grid.margin.left - 0.14);
    panel.y_tic_names(layout.query_names, 1, 2);
  } else {
    panel.without_y_tics();
  }
}

/// The maps that fit on the page.
std::vector<std::size_t> maps_on_page(const ShownMap& map, const Result& result, const FigureOptions& options) {
  const std::vector<double> largest = map.largest();
  std::vector<std::size_t> maps = chosen_maps(result, options, largest, most_maps);
  const std::size_t fit = panels_on_page(layout_of(map, maps.size(), options.style).grid, options.style);
  if (fit < maps.size() && options.heads.empty()) return chosen_maps(result, options, largest, fit);
  maps.resize(std::min(fit, maps.size()));
  return maps;
}

GnuplotFigure draw_attention_map(const Result& result, const FigureOptions& options) {
  const ShownMap map = shown_map(result, options.tokens);
  const auto maps = maps_on_page(map, result, options);
  const auto& names = labels_of(result.at(map_weight_name), "map_head");
  const std::vector<double> all = map.largest();
  double largest = 0;
  for (const std::size_t one : maps) largest = std::max(largest, all[one]);
  if (!(largest > 0)) largest = 1;
  Layout layout = layout_of(map, maps.size(), options.style);
  Page page(layout.grid, options.style);
  layout.query_names = page.data(tic_names(layout, map.query_labels, map.first));
  layout.key_names = page.data(tic_names(layout, map.key_labels, map.first));
  for (std::size_t k = 0; k < maps.size(); ++k) {
    const std::size_t one = maps[k];
    const HeadName name = parse_head_name(names[one]);
    Panel& panel = page.panel(k);
    panel.note(head_name(name.layer, name.head), panel.over(panel.width() / 2, 0.12),
               {.points = 9, .bold = true, .anchor = Anchor::center});
    panel.note(fmt::format("{:.2g}", all[one]), panel.over(panel.width(), 0.12),
               {.points = 6, .ink = ink::number, .anchor = Anchor::right});
    panel.color_range({0, largest});
    if (k == 0) panel.common_color_bar(amount_bar(largest, "attention weight", 0.07));
    page.keep(map_numbers(map, one, name));
    const std::size_t block = std::clamp<std::size_t>(128 / std::max(map.rows, map.columns), 1, 8);
    const auto weight = [&](std::size_t key, std::size_t query) { return map.weight(one, query, key); };
    panel.heat_map(page.data(pixels({map.columns, map.rows, weight}, block, block)));
    add_map_axes(panel, layout, map);
    panel.diagonal({ink::guide, 1, "-"});
  }
  page.note_below(layout.notes);
  if (maps.size() < names.size())
    page.show(fmt::format("{} of {} heads{} are shown.", maps.size(), names.size(),
                          options.heads.empty() ? ", the strongest of different offsets," : ""));
  return page.figure();
}

/// Why no map is drawn of the heads asked for: the run kept none of one of them.
std::string no_map(const Result& result, const FigureOptions& options) {
  const auto& kept = labels_of(result.at(map_weight_name), "map_head");
  for (const std::string& head : options.heads)
    if (std::ranges::find(kept, head) == kept.end()) return "the run kept no attention map of " + head;
  return "";
}

}  // namespace

FigureKind attention_map_figure() {
  return {
      .name = "attention_map",
      .fields = {map_weight_name, "attention_map/token", "attention_map/key_token"},
      .extras = {"measured_offset/weight", "measured_offset/offset", "attention_map/special",
                 "attention_map/key_special"},
      .caption =
          "Attention weights of single heads over a window of one text. Rows are queries and sum to 1 over all keys "
          "of the text, not only those shown. All panels share one colour scale, from 0 to the largest weight "
          "between tokens that are not special; special ones may lie above it. The number above a panel is its own "
          "largest such weight. The dotted line marks offset "
          "0. Long tokens end in an ellipsis; positions stand where tokens could not be read.",
      .drawing = draw_attention_map,
      .silent = no_map,
      .single_heads = true};
}

}  // namespace headwave
