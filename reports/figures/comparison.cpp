// What differs between two results, head by head.
#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "../../core/errors/error.h"
#include "../../core/fields/field_reader.h"
#include "../drawing/page.h"
#include "../tables/comparison_table.h"
#include "kinds.h"

namespace headwave {

namespace {

constexpr const char *first_name = "comparison/first", *second_name = "comparison/second",
                     *change_verdict_name = "comparison/verdict";
constexpr std::size_t most_heads = 24;
constexpr double names_room = 1.5;                         // inches left of the cells
constexpr double usual_square = 0.2, least_square = 0.13;  // inches
constexpr double rounding = 1e-12;                         // of measures, which are shares, weights and tokens

enum class Verdict : std::uint8_t { within, beyond, no_interval, undefined };

/// How many heads are shown: on a narrow page fewer.
std::size_t room_for_heads(const FigureStyle& style) {
  const double page = layout_width(style);
  return page > 0 ? std::clamp<std::size_t>(static_cast<std::size_t>((page - names_room) / least_square), 1, most_heads)
                  : most_heads;
}

/// A measure of a head that is shown.
struct Change {
  std::string head;
  std::size_t column = 0, measure = 0;  ///< place of the head, and of the measure
  double first = 0, second = 0;
  Verdict verdict = Verdict::undefined;

  [[nodiscard]] double difference() const { return second - first; }
};

struct Changes {
  std::vector<std::string> measures = {}, heads = {};  ///< heads that are shown
  std::vector<Change> all = {};                        ///< head by head
  std::vector<double> largest = {};                    ///< (measures) |difference| of what is shown
  std::size_t compared = 0;                            ///< heads that are listed, shown or not
};

Changes changes_of(const Result& result, const FigureOptions& options) {
  const auto& first = doubles_of(result, first_name, {"measure", "layer", "head"});
  const auto& second = doubles_of(result, second_name, {"measure", "layer", "head"});
  const auto& verdict = flags_of(result, change_verdict_name, {"measure", "layer", "head"});
  const Field& field = result.at(change_verdict_name);
  const FieldHeads heads = field_heads(field);
  Changes changes{.measures = labels_of(field, "measure")};
  changes.largest.resize(changes.measures.size(), 0.0);
  for (const std::size_t row : ranked_rows(result)) {
    const std::string name = head_name(heads[row].layer, heads[row].head);
    const bool asked = options.heads.empty() || std::ranges::find(options.heads, name) != options.heads.end();
    if (!asked) continue;
    ++changes.compared;
    if (changes.heads.size() == room_for_heads(options.style)) continue;
    for (std::size_t m = 0; m < changes.measures.size(); ++m) {
      const std::size_t i = m * heads.size() + row;
      changes.all.push_back(
          {name, changes.heads.size(), m, first[i], second[i], std::min(Verdict{verdict[i]}, Verdict::undefined)});
      changes.largest[m] = std::fmax(changes.largest[m], std::abs(changes.all.back().difference()));
    }
    changes.heads.push_back(name);
  }
  if (changes.heads.empty())
    throw ShapeError(fmt::format("{}: holds none of the heads asked for", change_verdict_name));
  for (double& largest : changes.largest)
    if (largest < rounding) largest = 0;  // no difference of anything that was measured
  return changes;
}

/// Names of measures come from a file and go into a script: letters and spaces, nothing else.
std::string plain(std::string name) {
  std::ranges::replace(name, '_', ' ');
  std::erase_if(name, [](char c) { return c != ' ' && (c < 'a' || c > 'z'); });
  return name;
}

/// Offsets are in tokens, all other measures without unit.
std::string line_name(const std::string& measure) {
  return measure == "offset" ? "offset (tokens)" : plain(measure);
}

GnuplotFigure draw_comparison(const Result& result, const FigureOptions& options) {
  const Changes changes = changes_of(result, options);
  const std::size_t across = changes.heads.size(), down = changes.measures.size();
  PanelGrid grid = with_cells({.margin = {.left = names_room, .right = 1.55, .top = 0.12, .bottom = 0.5}}, across, down,
                              usual_square, usual_square, 3, options.style);
  const double cell = grid.panel.width / static_cast<double>(across),
               height = std::max(least_square, grid.panel.height / static_cast<double>(down));
  grid.panel.height = static_cast<double>(down) * height;
  std::vector<std::string> said{"number: the line's largest difference", "shaded: beyond its interval"};
  if (across < changes.compared) said.push_back(fmt::format("{} of {} heads", across, changes.compared));
  const double room = grid.panel.width + 2 * std::min(grid.margin.left, grid.margin.right);  // both sides of the middle
  const std::vector<std::string> notes = note_lines(said, room);
  grid = with_room_below(grid, note_line * static_cast<double>(notes.size()));
  const double points = std::min(6.0, 72 * std::min(cell, height) / 1.3);
  Page page(grid, options.style);
  Panel& panel = page.panel(0);
  panel.frame(Frame::none);
  std::vector<Tic> names, lines;
  for (std::size_t h = 0; h < across; ++h) names.push_back({static_cast<double>(h), changes.heads[h]});
  for (std::size_t m = 0; m < down; ++m)
    lines.push_back(
        {static_cast<double>(m), fmt::format("{}, {:.2g}", line_name(changes.measures[m]), changes.largest[m])});
  panel.x_cells(across, {.named = names, .points = points, .away = -0.4, .upward = true});
  panel.y_cells(down, {.named = lines, .points = 7, .away = -0.5});
  panel.legend_beside({.title = "second − first",
                       .entries = {{{ink::differs, 1.0, Shape::square}, "more"},
                                   {{ink::agrees, 1.0, Shape::square}, "less"},
                                   {{ink::interval, 1.0, Shape::square}, "beyond"}},
                       .away = 0.2,
                       .text_right = 0.12});
  DataTable kept({"head", "measure", "first", "second", "difference", "verdict"});
  DataTable shaded({"column", "line"}), less({"column", "line", "half"}), more = less,
                                                                          dashes({"column", "line", "text"});
  constexpr std::array words{"within", "beyond", "no interval", "undefined"};
  for (const Change& one : changes.all) {
    const double d = one.difference(), largest = changes.largest[one.measure];
    kept.add_row({one.head, changes.measures[one.measure], one.first, one.second, d,
                  words[static_cast<std::size_t>(one.verdict)]});
    if (one.verdict == Verdict::beyond) shaded.add_row({one.column, one.measure});
    if (one.verdict == Verdict::undefined) dashes.add_row({one.column, one.measure, "–"});
    // Squares whose area is the difference's share of the largest in its line.
    if (largest > 0 && d != 0 && !std::isnan(d))
      (d > 0 ? more : less).add_row({one.column, one.measure, 0.4 * std::sqrt(std::abs(d) / largest)});
  }
  page.keep(kept);
  const std::string square = fmt::format("1:2:($3*{:.4f}):3", std::min(1.0, height / cell));
  if (!shaded.rows().empty()) panel.boxes(page.data(shaded), "1:2:(0.5):(0.5)", ink::interval);
  if (!less.rows().empty()) panel.boxes(page.data(less), square, ink::agrees);
  if (!more.rows().empty()) panel.boxes(page.data(more), square, ink::differs);
  if (!dashes.rows().empty())
    panel.texts(page.data(dashes), "1:2:3", {.points = points, .ink = ink::number, .anchor = Anchor::center});
  page.note_below(notes);
  page.show(fmt::format("{} of {} heads are shown.", across, changes.compared));
  return page.figure();
}

std::string no_change(const Result& result, const FigureOptions& options) {
  const Changes changes = changes_of(result, options);
  const bool any = std::ranges::any_of(changes.largest, [](double largest) { return largest > 0; });
  return any ? "" : "no measure of any head differs";
}

}  // namespace

FigureKind comparison_figure() {
  return {.name = "comparison",
          .fields = {change_verdict_name, first_name, second_name, "comparison/rank"},
          .caption =
              "What differs between two results: second less first, a line for each measure, heads that changed first. "
              "The area of a square is the difference as a share of the largest shown in its line, which stands "
              "with the measure; a dash is undefined in one of them. If a difference is beyond its "
              "interval the cell is shaded; measures without intervals are never shaded.",
          .drawing = draw_comparison,
          .silent = no_change,
          .single_heads = true};
}

}  // namespace headwave
