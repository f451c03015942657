#include <algorithm>
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
constexpr Index longest_label = 12;    // columns
constexpr double widest_map = 7.0;     // inches
constexpr double letters_fill = 0.93;  // of a cell

/// The part of a result's attention maps that a figure shows, the same of every head.
struct ShownMap {
  const std::vector<double>* weights = nullptr;  // (maps, queries, keys)
  std::size_t queries = 0, keys = 0;             // stored
  std::size_t rows = 0, columns = 0;             // shown
  Index first = 0;                               // position
  std::vector<std::string> query_labels, key_labels;
  std::vector<std::uint8_t> query_special, key_special;  // 1: a special token
  std::string document;                                  // its name; empty: the result does not say

  [[nodiscard]] double weight(std::size_t map, std::size_t query, std::size_t key) const {
    return (*weights)[(map * queries + query) * keys + key];
  }
  /// Of pairs without special tokens, which draw so much attention that beside it nothing else would be seen; 1 if that
  /// is 0.
  [[nodiscard]] double largest(std::size_t map) const {
    double most = 0.0;
    for (std::size_t i = 0; i < rows; ++i)
      for (std::size_t j = 0; j < columns; ++j)
        if (query_special[i] + key_special[j] == 0 && std::isfinite(weight(map, i, j)))
          most = std::max(most, weight(map, i, j));
    return most > 0 ? most : 1.0;
  }
};

std::vector<std::uint8_t> special_tokens(const Result& result, const char* name, const char* axis, std::size_t all) {
  return result.find(name) == nullptr ? std::vector<std::uint8_t>(all, 0) : flags_of(result, name, {axis});
}

std::vector<std::string> first_tokens(const Result& result, const char* name, const char* axis, std::size_t shown) {
  const auto& texts = strings_of(result, name, {axis});
  return {texts.begin(), texts.begin() + static_cast<std::ptrdiff_t>(shown)};
}

ShownMap shown_map(const Result& result, Index tokens) {
  const Field& field = result.at(map_weight_name);
  ShownMap map;
  map.weights = &doubles_of(result, map_weight_name, {"map_head", "query", "key"});
  const auto queries = whole_coordinates(field, "query");
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
  map.query_labels = first_tokens(result, "attention_map/token", "query", map.rows);
  map.key_labels = first_tokens(result, "attention_map/key_token", "key", map.columns);
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

std::string label_text(const std::string& token) {
  return shortened(visible_text(token), longest_label);
}

DataTable labels_table(const std::vector<std::string>& labels) {
  DataTable table({"position", "label"});
  for (std::size_t i = 0; i < labels.size(); ++i) table.add_row({i, label_text(labels[i])});
  return table;
}

/// Positions where a step from 0 meets them, by their places in the panel.
DataTable positions_table(Index first, std::size_t count) {
  DataTable table({"position", "label"});
  const auto step = static_cast<Index>(std::max(1.0, tic_step(static_cast<double>(count))));
  for (Index i = 0; i < static_cast<Index>(count); ++i)
    if ((first + i) % step == 0) table.add_row({i, fmt::format("{}", first + i)});
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
  std::size_t panels = 1;
  double points = 7.0;  ///< size of the tokens' letters
  bool legible = true;  ///< else positions stand in their place
  bool named = true;    ///< whether data say what stands at a tic: tokens, or positions that do not begin with 0
  std::vector<std::string> notes = {};  ///< below all panels
  double below = 0.0;                   ///< inches that they take
  std::string query_names = {}, key_names = {};
};

/// Inches for a bar of colours, the numbers at its tics and its title.
double room_for_bar(const ShownMap& map, const std::vector<std::size_t>& heads) {
  constexpr double letter = 0.05;
  std::size_t longest = 3;
  for (const std::size_t head : heads)
    longest = std::max(longest, fmt::format("{:g}", tic_step(map.largest(head))).size());
  return 0.5 + letter * static_cast<double>(longest);
}

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

Layout layout_of(const ShownMap& map, const std::vector<std::size_t>& heads, const FigureStyle& style) {
  const std::size_t panels = heads.size();
  const auto columns = static_cast<double>(map.columns);
  const double readable = columns * legible(0, style) / (72 * letters_fill);
  Layout layout{{.panel = {.width = panels == 1 ? std::clamp(readable, 2.8, widest_map) : 2.1},
                 .gap = {.y = 0.35},
                 .margin = {.right = room_for_bar(map, heads), .top = 0.3}},
                panels};
  PanelGrid& grid = layout.grid;
  grid.gap.x = grid.margin.right + 0.08;
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
  layout.below = note_line * static_cast<double>(layout.notes.size());
  grid.margin.bottom += layout.below;
  return layout;
}

/// Tokens or positions at the left column, and at the lowest panel of each column, which need not be in the last row.
void add_map_axes(Panel& panel, const Layout& layout, std::size_t k, const ShownMap& map) {
  const PanelGrid& grid = layout.grid;
  Tics keys, queries;
  if (layout.legible) {
    keys = {.points = layout.points, .away = -0.1, .upward = true};
    queries = {.points = layout.points, .away = -0.4};
  } else if (layout.named) {
    keys = queries = {.points = 6};
  } else {
    keys = queries = {.step = tic_step(static_cast<double>(map.columns)), .points = 6};
  }
  panel.tic_length(0);
  panel.x_cells(map.columns, keys);
  panel.y_cells(map.rows, queries);
  if (grid.is_lowest(k, layout.panels))
    panel.title_below(layout.legible ? "key token" : "key position", grid.margin.bottom - layout.below - 0.14);
  else
    panel.without_x_tics();
  if (grid.column_of(k) == 0)
    panel.title_left(layout.legible ? "query token" : "query position", grid.margin.left - 0.14);
  else
    panel.without_y_tics();
}

void add_map(Page& page, const Layout& layout, std::size_t k, const HeadName& name, const ShownMap& map,
             std::size_t head) {
  Panel& panel = page.panel(k);
  panel.note(head_name(name.layer, name.head), panel.over(panel.width() / 2, 0.12),
             {.points = 9, .bold = true, .anchor = Anchor::center});
  add_map_axes(panel, layout, k, map);
  const double largest = map.largest(head);
  ColorBar bar = amount_bar(largest, "attention weight", 0.07);
  bar.title_right = -0.8;
  panel.color_range({0, largest});
  panel.color_bar(bar);
  page.keep(map_numbers(map, head, name));
  const std::size_t block = std::clamp<std::size_t>(128 / std::max(map.rows, map.columns), 1, 8);
  const auto weight = [&](std::size_t key, std::size_t query) { return map.weight(head, query, key); };
  panel.heat_map(page.data(pixels({map.columns, map.rows, weight}, block, block)));
  if (layout.named && layout.grid.column_of(k) == 0) panel.y_tic_names(layout.query_names, 1, 2);
  if (layout.named && layout.grid.is_lowest(k, layout.panels)) panel.x_tic_names(layout.key_names, 1, 2);
  panel.diagonal({ink::guide, 1, "-"});
}

GnuplotFigure draw_attention_map(const Result& result, const FigureOptions& options) {
  const ShownMap map = shown_map(result, options.tokens);
  const auto heads = chosen_maps(result, options);
  const auto& names = labels_of(result.at(map_weight_name), "map_head");
  Layout layout = layout_of(map, heads, options.style);
  Page page(layout.grid, options.style);
  layout.named = layout.legible || map.first > 0;
  layout.query_names =
      page.data(layout.legible ? labels_table(map.query_labels) : positions_table(map.first, map.rows));
  layout.key_names = page.data(layout.legible ? labels_table(map.key_labels) : positions_table(map.first, map.columns));
  for (std::size_t k = 0; k < heads.size(); ++k)
    add_map(page, layout, k, parse_head_name(names[heads[k]]), map, heads[k]);
  page.note_below(layout.notes);
  return page.figure();
}

}  // namespace

FigureKind attention_map_figure() {
  return {"attention_map",
          {map_weight_name, "attention_map/token", "attention_map/key_token"},
          {"measured_offset/weight", "measured_offset/offset", "attention_map/special", "attention_map/key_special"},
          "Attention weights of single heads over a window of one text. Rows are queries and sum to 1 over all keys of "
          "the text, not only those shown. Each panel has its own colour scale from 0 to its largest weight between "
          "tokens that are not special; special ones may lie above it. The dotted line marks offset 0. Long tokens end "
          "in an ellipsis; positions stand where tokens could not be read.",
          draw_attention_map};
}

}  // namespace headwave
