#include "attention_map_figure.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "../../core/fields/head_name.h"
#include "../drawing/field_values.h"
#include "../drawing/page.h"
#include "../drawing/pixels.h"
#include "../drawing/visible_text.h"
#include "chosen_maps.h"
#include "shown_map.h"

namespace headwave {

namespace {

constexpr Index longest_label = 12;    // columns
constexpr double widest_map = 7.0;     // inches
constexpr double letters_fill = 0.93;  // of a cell

DataTable numbers_of(const ShownMap& map, std::size_t head, const HeadName& name) {
  DataTable table({"layer", "head", "query", "key", "query_token", "key_token", "weight"});
  for (Index i = 0; i < map.rows; ++i)
    for (Index j = 0; j < map.columns; ++j)
      table.add_row({name.layer, name.head, map.first + i, map.first + j, map.query_labels[static_cast<std::size_t>(i)],
                     map.key_labels[static_cast<std::size_t>(j)], map.weight(head, i, j)});
  return table;
}

DataTable pixels_of(const ShownMap& map, std::size_t head) {
  const Index block = std::clamp<Index>(128 / std::max(map.rows, map.columns), 1, 8);
  const auto as_it_is = [](double cell) { return cell; };
  const auto weight = [&](std::size_t key, std::size_t query) {
    return map.weight(head, static_cast<Index>(query), static_cast<Index>(key));
  };
  return pixels({static_cast<std::size_t>(map.columns), static_cast<std::size_t>(map.rows), weight, as_it_is, as_it_is},
                static_cast<std::size_t>(block), static_cast<std::size_t>(block));
}

DataTable labels_table(const std::vector<std::string>& labels) {
  DataTable table({"position", "label"});
  for (std::size_t i = 0; i < labels.size(); ++i)
    table.add_row({static_cast<Index>(i), shortened(visible_text(labels[i]), longest_label)});
  return table;
}

/// Positions where a step from 0 meets them, by their places in the panel.
DataTable positions_table(Index first, Index count) {
  DataTable table({"position", "label"});
  const auto step = static_cast<Index>(std::max(1.0, tic_step(static_cast<double>(count))));
  for (Index i = 0; i < count; ++i)
    if ((first + i) % step == 0) table.add_row({i, fmt::format("{}", first + i)});
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

/// What is the same for all panels.
struct Layout {
  PanelGrid grid;
  std::size_t panels = 1;
  double points = 7.0;  ///< size of the tokens' letters
  bool legible = true;  ///< else positions stand in their place
  bool named = true;    ///< whether files say what stands at a tic: tokens, or positions that do not begin with 0
  std::vector<std::string> notes;  ///< below all panels
  double below = 0.0;              ///< inches that they take
  std::string query_file, key_file;
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
std::vector<std::string> notes_of(const ShownMap& map, double width) {
  constexpr double letter = 0.05;
  const auto span = [&](const char* what, Index count) {
    return fmt::format("{} {} to {}", what, map.first, map.first + count - 1);
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
  Layout layout;
  layout.panels = panels;
  PanelGrid& grid = layout.grid;
  const double readable = static_cast<double>(map.columns) * legible(0, style) / (72 * letters_fill);
  grid.panel_width = panels == 1 ? std::clamp(readable, 2.8, widest_map) : 2.1;
  grid.gap_y = 0.35;
  grid.right = room_for_bar(map, heads);
  grid.gap_x = grid.right + 0.08;
  grid.top = 0.3;
  grid = flowing(grid, panels, panels == 4 ? 2 : 3);
  // How large letters are follows from how broad a panel is, and how much room is left for it from them.
  for (int pass = 0; pass < 2; ++pass) {
    const double cell = grid.panel_width / static_cast<double>(map.columns);
    layout.points = std::min(7.0, cell * 72 * letters_fill);
    layout.legible = layout.points >= legible(0, style);
    grid.left = 0.3 + (layout.legible ? room_for(map.query_labels, layout.points) : 0.25);
    grid.bottom = 0.3 + (layout.legible ? room_for(map.key_labels, layout.points) : 0.2);
    if (pass == 0) grid = fitted(grid, panels, std::clamp(readable, 1.2, 2.0), style);
  }
  grid = fitted(grid, panels, 1.0, style);
  grid.panel_height = grid.panel_width / static_cast<double>(map.columns) * static_cast<double>(map.rows);
  layout.notes = notes_of(map, grid.width());
  layout.below = note_line * static_cast<double>(layout.notes.size());
  grid.bottom += layout.below;
  return layout;
}

/// Tokens or positions at the left column, and at the lowest panel of each column, which need not be in the last row.
void add_axes(Panel& panel, const Layout& layout, std::size_t k, const ShownMap& map) {
  const PanelGrid& grid = layout.grid;
  const bool leftmost = grid.column_of(k) == 0, lowest = grid.is_lowest(k, layout.panels);
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
  panel.x_axis({-0.5, static_cast<double>(map.columns) - 0.5}, keys);
  panel.y_axis({static_cast<double>(map.rows) - 0.5, -0.5}, queries);
  if (lowest)
    panel.title_below(layout.legible ? "key token" : "key position", grid.bottom - layout.below - 0.14);
  else
    panel.without_x_tics();
  if (leftmost)
    panel.title_left(layout.legible ? "query token" : "query position", grid.left - 0.14);
  else
    panel.without_y_tics();
}

void add_panel(Page& page, const Layout& layout, std::size_t k, const HeadName& name, const ShownMap& map,
               std::size_t head) {
  const PanelGrid& grid = layout.grid;
  const double left = grid.panel_left(grid.column_of(k)), bottom = grid.panel_bottom(grid.row_of(k));
  const double largest = map.largest(head);
  Panel& panel = page.panel(k);
  panel.note(head_name(name.layer, name.head), grid.at(left + grid.panel_width / 2, bottom + grid.panel_height + 0.12),
             {.points = 9, .bold = true, .anchor = Anchor::center});
  add_axes(panel, layout, k, map);
  panel.color_range({0, largest});
  panel.color_bar({.x = left + grid.panel_width + 0.07,
                   .y = bottom,
                   .height = grid.panel_height,
                   .tics = {.step = tic_step(largest), .first = 0, .points = 6, .away = 0.6},
                   .title = "attention weight",
                   .title_right = -0.8});
  page.keep(numbers_of(map, head, name));
  panel.heat_map(page.data(pixels_of(map, head)));
  if (layout.named && grid.column_of(k) == 0) panel.y_tic_names(layout.query_file, 1, 2);
  if (layout.named && grid.is_lowest(k, layout.panels)) panel.x_tic_names(layout.key_file, 1, 2);
  panel.diagonal({ink::guide, 1, "-"});
}

GnuplotFigure draw_attention_map(const Result& result, const FigureOptions& options) {
  const ShownMap map = shown_map(result, options.tokens);
  const auto heads = chosen_maps(result, options);
  const auto& names = labels_of(result.at(map_weight_name), "map_head");
  Layout layout = layout_of(map, heads, options.style);
  Page page(layout.grid, options.style);
  layout.named = layout.legible || map.first > 0;
  layout.query_file = page.data(layout.legible ? labels_table(map.query_labels) : positions_table(map.first, map.rows));
  layout.key_file = page.data(layout.legible ? labels_table(map.key_labels) : positions_table(map.first, map.columns));
  for (std::size_t k = 0; k < heads.size(); ++k)
    add_panel(page, layout, k, parse_head_name(names[heads[k]]), map, heads[k]);
  page.note_below(layout.notes);
  return page.figure();
}

}  // namespace

FigureKind attention_map_figure() {
  return {
      "attention_map",
      {"attention_map/weight", "attention_map/token", "attention_map/key_token"},
      {"measured_offset/weight", "measured_offset/offset", "attention_map/special", "attention_map/key_special"},
      "Attention weights of single heads over a window of one text. Rows are queries and sum to 1 over all keys of the "
      "text, not only those shown. Each panel has its own colour scale from 0 to its largest weight between tokens "
      "that are not special; special ones may lie above it. The dotted line marks offset 0. Long tokens end in an "
      "ellipsis; positions stand where tokens could not be read.",
      draw_attention_map};
}

}  // namespace headwave
