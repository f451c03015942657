#include "comparison_figure.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "../../core/fields/head_name.h"
#include "../drawing/field_values.h"
#include "../drawing/page.h"
#include "../tables/comparison_table.h"

namespace headwave {

namespace {

constexpr const char *first_name = "comparison/first", *second_name = "comparison/second",
                     *change_verdict_name = "comparison/verdict";
constexpr std::size_t most_heads = 24;
constexpr double names_room = 1.5;                         // inches left of the cells
constexpr double usual_square = 0.2, least_square = 0.13;  // inches
constexpr double rounding = 1e-12;                         // of measures, which are shares, weights and tokens

enum Verdict : std::uint8_t { within, beyond, no_interval, undefined };

/// How many heads are shown: on a narrow page fewer.
std::size_t room_for_heads(const FigureStyle& style) {
  const double page = layout_width(style);
  return page > 0 ? std::clamp<std::size_t>(static_cast<std::size_t>((page - names_room) / least_square), 1, most_heads)
                  : most_heads;
}

struct Changes {
  std::vector<std::string> measures;
  std::vector<HeadName> heads;        // those that are shown
  std::vector<std::size_t> rows;      // of these, among all
  std::vector<double> first, second;  // (measures * all heads)
  std::vector<std::uint8_t> verdict;  // (measures * all heads)
  std::vector<double> largest;        // (measures) |difference| of what is shown
  std::size_t all = 0;

  [[nodiscard]] double difference(std::size_t measure, std::size_t shown) const {
    const std::size_t i = measure * all + rows[shown];
    return second[i] - first[i];
  }
  [[nodiscard]] std::uint8_t said(std::size_t measure, std::size_t shown) const {
    return verdict[measure * all + rows[shown]];
  }
};

Changes changes_of(const Result& result, const FigureOptions& options, std::size_t most) {
  Changes changes;
  changes.first = doubles_of(result, first_name, {"measure", "layer", "head"});
  changes.second = doubles_of(result, second_name, {"measure", "layer", "head"});
  changes.verdict = flags_of(result, change_verdict_name, {"measure", "layer", "head"});
  changes.measures = labels_of(result.at(change_verdict_name), "measure");
  const auto layers = whole_coordinates(result.at(change_verdict_name), "layer"),
             heads = whole_coordinates(result.at(change_verdict_name), "head");
  const std::vector<std::size_t> ranked = ranked_rows(result);
  changes.all = ranked.size();
  if (changes.all == 0 || changes.all != layers.size() * heads.size() || changes.measures.empty() ||
      changes.first.size() != changes.verdict.size() || changes.second.size() != changes.verdict.size() ||
      changes.verdict.size() != changes.measures.size() * changes.all)
    throw ShapeError(
        fmt::format("{}: expected the measures of {} heads in every Field", change_verdict_name, changes.all));
  for (const std::size_t row : ranked) {
    const HeadName name{layers[row / heads.size()], heads[row % heads.size()]};
    const bool asked = std::ranges::count(options.heads, head_name(name.layer, name.head)) > 0 || options.heads.empty();
    if (!asked || changes.rows.size() == most) continue;
    changes.rows.push_back(row);
    changes.heads.push_back(name);
  }
  if (changes.rows.empty()) throw ShapeError(fmt::format("{}: holds none of the heads asked for", change_verdict_name));
  for (std::size_t m = 0; m < changes.measures.size(); ++m) {
    changes.largest.push_back(0);
    for (std::size_t h = 0; h < changes.rows.size(); ++h)
      changes.largest[m] = std::fmax(changes.largest[m], std::abs(changes.difference(m, h)));
    if (changes.largest[m] < rounding) changes.largest[m] = 0;  // no difference of anything that was measured
  }
  return changes;
}

DataTable numbers_of(const Changes& changes) {
  DataTable table({"head", "measure", "first", "second", "difference", "verdict"});
  constexpr std::array words{"within", "beyond", "no interval", "undefined"};
  for (std::size_t h = 0; h < changes.rows.size(); ++h)
    for (std::size_t m = 0; m < changes.measures.size(); ++m) {
      const std::size_t i = m * changes.all + changes.rows[h];
      const std::uint8_t said = std::min<std::uint8_t>(changes.verdict[i], undefined);
      table.add_row({head_name(changes.heads[h].layer, changes.heads[h].head), changes.measures[m], changes.first[i],
                     changes.second[i], changes.difference(m, h), words[said]});
    }
  return table;
}

/// Squares whose area is a difference's share of the largest in its line.
DataTable squares(const Changes& changes, bool more) {
  DataTable table({"column", "line", "half"});
  for (std::size_t m = 0; m < changes.measures.size(); ++m)
    for (std::size_t h = 0; h < changes.rows.size(); ++h)
      if (const double d = changes.difference(m, h); changes.largest[m] > 0 && (more ? d > 0 : d < 0))
        table.add_row(
            {static_cast<double>(h), static_cast<double>(m), 0.4 * std::sqrt(std::abs(d) / changes.largest[m])});
  return table;
}

DataTable cells_said(const Changes& changes, Verdict verdict) {
  DataTable table({"column", "line", "text"});
  for (std::size_t m = 0; m < changes.measures.size(); ++m)
    for (std::size_t h = 0; h < changes.rows.size(); ++h)
      if (changes.said(m, h) == verdict) table.add_row({static_cast<double>(h), static_cast<double>(m), "–"});
  return table;
}

/// Names of measures come from a file and go into a script: letters and spaces, nothing else.
std::string plain(std::string name) {
  std::ranges::replace(name, '_', ' ');
  std::erase_if(name, [](char c) { return c != ' ' && (c < 'a' || c > 'z'); });
  return name;
}

/// A measure's name, with the largest difference in its line.
std::vector<Tic> line_names(const Changes& changes) {
  std::vector<Tic> names;
  for (std::size_t m = 0; m < changes.measures.size(); ++m)
    names.push_back(
        {static_cast<double>(m), fmt::format("{}, {:.2g}", plain(changes.measures[m]), changes.largest[m])});
  return names;
}

GnuplotFigure draw_comparison(const Result& result, const FigureOptions& options) {
  const Changes changes = changes_of(result, options, room_for_heads(options.style));
  const auto across = static_cast<double>(changes.rows.size()), down = static_cast<double>(changes.measures.size());
  PanelGrid grid;
  grid.left = names_room;
  grid.right = 1.55;
  grid.top = 0.12;
  grid.bottom = 0.5;
  grid = with_cells(grid, changes.rows.size(), changes.measures.size(), usual_square, usual_square, 3, options.style);
  const double cell = grid.panel_width / across, height = std::max(least_square, grid.panel_height / down);
  grid.panel_height = down * height;
  Page page(grid, options.style);
  Panel& panel = page.panel(0, 0);
  panel.frame(Frame::none);
  std::vector<Tic> names;
  for (std::size_t h = 0; h < changes.heads.size(); ++h)
    names.push_back({static_cast<double>(h), head_name(changes.heads[h].layer, changes.heads[h].head)});
  const double points = std::min(6.0, 72 * std::min(cell, height) / 1.3);
  panel.x_axis({-0.5, across - 0.5}, {.named = names, .points = points, .away = -0.4, .upward = true});
  panel.y_axis({down - 0.5, -0.5}, {.named = line_names(changes), .points = 7, .away = -0.5});
  panel.legend_beside({.title = "second − first",
                       .entries = {{{ink::differs, 1.0, Shape::square}, "more"},
                                   {{ink::agrees, 1.0, Shape::square}, "less"},
                                   {{ink::interval, 1.0, Shape::square}, "beyond"}},
                       .away = 0.2,
                       .text_right = 0.12});
  page.keep(numbers_of(changes));
  const auto draw = [&](const DataTable& table, const auto& how) {
    if (!table.rows().empty()) how(page.data(table));
  };
  draw(cells_said(changes, beyond),
       [&](const std::string& file) { panel.boxes(file, "1:2:(0.5):(0.5)", ink::interval); });
  for (const bool more : {false, true})
    draw(squares(changes, more), [&](const std::string& file) {
      panel.boxes(file, fmt::format("1:2:($3*{:.4f}):3", std::min(1.0, height / cell)),
                  more ? ink::differs : ink::agrees);
    });
  draw(cells_said(changes, undefined), [&](const std::string& file) {
    panel.texts(file, "1:2:3", {.points = points, .ink = ink::number, .anchor = Anchor::center});
  });
  return page.figure();
}

}  // namespace

FigureKind comparison_figure() {
  return {
      "comparison",
      {first_name, second_name, change_verdict_name, "comparison/rank"},
      {},
      "What differs between two results: second less first, a line for each measure, heads that changed first, 24 at "
      "most. The area of a square is the difference as a share of the largest shown in its line, which stands with "
      "the measure, in tokens for offsets; a dash is undefined in one of them. Where a difference is beyond its "
      "interval the cell is shaded; measures without intervals are never shaded.",
      draw_comparison};
}

}  // namespace headwave
