// What differs between two results, head by head.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "../../core/errors/error.h"
#include "../tables/comparison_table.h"
#include "chosen_heads.h"

namespace headwave {

namespace {

constexpr const char *first_name = "comparison/first", *second_name = "comparison/second",
                     *change_verdict_name = "comparison/verdict";
constexpr double names_room = 1.5, least_square = 0.13;  // inches: left of the cells, of a cell

enum Verdict : std::uint8_t { within, beyond, no_interval, undefined };

/// What is shown: heads that changed first, and a line for each measure.
struct Changes {
  std::vector<std::string> measures = {}, heads = {};
  std::vector<std::vector<double>> difference = {};  ///< (measures) (heads)
  std::vector<std::vector<std::uint8_t>> verdict = {};
  std::vector<double> largest = {};  ///< (measures) |difference| of what is shown; 0: nothing that was measured
  std::size_t compared = 0;          ///< heads that are listed, shown or not
};

Changes changes_of(const Result& result, const FigureOptions& options) {
  constexpr double rounding = 1e-12;  // of measures, which are shares, weights and tokens
  const auto& first = doubles_of(result, first_name, {"measure", "layer", "head"});
  const auto& second = doubles_of(result, second_name, {"measure", "layer", "head"});
  const auto& verdict = flags_of(result, change_verdict_name, {"measure", "layer", "head"});
  const FieldHeads heads = field_heads(result.at(change_verdict_name));
  const double page = layout_width(options.style);
  const double fits = page > 0 ? std::clamp((page - names_room) / least_square, 1.0, 24.0) : 24;
  Changes changes{.measures = labels_of(result.at(change_verdict_name), "measure")};
  changes.difference.resize(changes.measures.size());
  changes.verdict.resize(changes.measures.size());
  changes.largest.resize(changes.measures.size());
  for (const std::size_t row : ranked_rows(result)) {
    const std::string name = head_name(heads[row].layer, heads[row].head);
    if (!options.heads.empty() && std::ranges::find(options.heads, name) == options.heads.end()) continue;
    if (++changes.compared > static_cast<std::size_t>(fits)) continue;
    changes.heads.push_back(name);
    for (std::size_t m = 0; m < changes.measures.size(); ++m) {
      const std::size_t at = m * heads.size() + row;
      const double difference = second[at] - first[at];
      changes.difference[m].push_back(difference);
      changes.verdict[m].push_back(verdict[at]);
      if (std::abs(difference) >= rounding) changes.largest[m] = std::fmax(changes.largest[m], std::abs(difference));
    }
  }
  if (changes.heads.empty())
    throw ShapeError(fmt::format("{}: holds none of the heads asked for", change_verdict_name));
  return changes;
}

/// Names of measures come from a file and go into a script: letters and spaces, nothing else. Offsets are in tokens, all
/// other measures without unit.
std::string line_name(std::string measure) {
  if (measure == "offset") return "offset (tokens)";
  std::ranges::replace(measure, '_', ' ');
  std::erase_if(measure, [](char c) { return c != ' ' && (c < 'a' || c > 'z'); });
  return measure;
}

Figure draw_comparison(const Result& result, const FigureOptions& options) {
  const Changes changes = changes_of(result, options);
  const std::size_t across = changes.heads.size(), down = changes.measures.size();
  const double page = layout_width(options.style), cell = 0.2;
  const double fits = page > 0 ? (page - names_room - 0.16) / static_cast<double>(across) : cell;
  const double width = std::min(cell, fits), height = std::max(least_square, width);  // of a cell
  FigurePanels panels{.grid = {.panel = {static_cast<double>(across) * cell},
                               .margin = {.left = names_room, .right = 1.55, .top = 0.12}},
                      .flatness = static_cast<double>(down) * height / (static_cast<double>(across) * width),
                      .grows = false,
                      .beside_title = "second − first",
                      .beside = {{"more", dot_sample(ink::differs, 1.0, Shape::square)},
                                 {"less", dot_sample(ink::agrees, 1.0, Shape::square)},
                                 {"beyond", dot_sample(ink::interval, 1.0, Shape::square)}},
                      .away = 0.2,
                      .text_right = 0.12,
                      .notes = {"number: the line's largest difference", "shaded: beyond its interval"},
                      .shown = fmt::format("{} of {} heads are shown.", across, changes.compared)};
  if (across < changes.compared) panels.notes.push_back(fmt::format("{} of {} heads", across, changes.compared));
  panels.fill = [&](Panel& panel, std::size_t) {
    const double wide = panel.width() / static_cast<double>(across), high = panel.height() / static_cast<double>(down);
    const double points = std::min(6.0, 72 * std::min(wide, high) / 1.3);
    panel.frame = Frame::none;
    panel.x = cells_across(across, {.points = points, .away = -0.4, .upward = true});
    panel.y = cells_down(down, {.points = 7, .away = -0.5});
    Rows shaded, less, more, dashes;
    for (std::size_t h = 0; h < across; ++h) {
      panel.x.tics.named.push_back({static_cast<double>(h), changes.heads[h]});
      for (std::size_t m = 0; m < down; ++m) {
        const double d = changes.difference[m][h], largest = changes.largest[m];
        if (changes.verdict[m][h] == beyond) shaded.push_back({h, m, 0.5, 0.5});
        if (changes.verdict[m][h] >= undefined) dashes.push_back({h, m, "–"});
        if (!(largest > 0) || d == 0 || std::isnan(d)) continue;
        // Squares whose area is the difference's share of the largest in its line.
        const double half = 0.4 * std::sqrt(std::abs(d) / largest);
        (d > 0 ? more : less).push_back({h, m, half * std::min(1.0, high / wide), half});
      }
    }
    for (std::size_t m = 0; m < down; ++m)
      panel.y.tics.named.push_back(
          {static_cast<double>(m), fmt::format("{}, {:.2g}", line_name(changes.measures[m]), changes.largest[m])});
    panel.boxes(shaded, ink::interval);
    panel.boxes(less, ink::agrees);
    panel.boxes(more, ink::differs);
    panel.texts(dashes, {.points = points, .ink = ink::number, .anchor = Anchor::center});
  };
  return drawn_panels(panels, 1, options.style);
}

std::string no_change(const Result& result, const FigureOptions& options) {
  const Changes changes = changes_of(result, options);
  const bool any = std::ranges::any_of(changes.largest, [](double largest) { return largest > 0; });
  return any ? "" : "no measure of any head differs";
}

}  // namespace

std::vector<FigureKind> comparison_figures() {
  return {
      {.name = "comparison",
       .fields = {change_verdict_name, first_name, second_name, "comparison/rank"},
       .caption =
           "What differs between two results: second less first, a line for each measure, heads that changed first. "
           "The area of a square is the difference as a share of the largest shown in its line, which stands with "
           "the measure; a dash is undefined in one of them. If a difference is beyond its interval the cell is "
           "shaded; measures without intervals are never shaded.",
       .drawing = draw_comparison,
       .silent = no_change,
       .single_heads = true}};
}

}  // namespace headwave
