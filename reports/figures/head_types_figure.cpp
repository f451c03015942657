#include "head_types_figure.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "../../core/errors/error.h"
#include "../drawing/field_values.h"
#include "../drawing/page.h"
#include "../drawing/pixels.h"
#include "../drawing/visible_text.h"

namespace headwave {

namespace {

constexpr const char* head_kind_name = "head_types/kind";
constexpr const char* positional_offset_name = "head_types/positional_offset";
constexpr double usual_cell = 0.2;                         // inches
constexpr double widest_panel = 2.4, tallest_cell = 0.15;  // inches
constexpr double two_titles = 1.3;                         // inches that a panel's name and its count take
constexpr double number_needs = 1.75;                      // letters of a score's width

constexpr const char* one_offset_kind = "one offset (Voita)";

/// A name that a head can have, and the score that earns it.
struct ScoredKind {
  const char* name;
  const char* score;
};

constexpr std::array scored_kinds{
    ScoredKind{"previous", "head_types/previous"},
    ScoredKind{"next", "head_types/next"},
    ScoredKind{one_offset_kind, "head_types/positional_share"},
    ScoredKind{"duplicate", "head_types/duplicate"},
    ScoredKind{"induction", "head_types/induction"},
    ScoredKind{"sink", "head_types/sink_weight"},
};

struct HeadScores {
  std::vector<Index> layers, heads;
  std::vector<std::size_t> called;                                      // (layers * heads) kind; their number: none
  std::array<const std::vector<double>*, scored_kinds.size()> score{};  // (layers, heads) each
  std::vector<double> offset;                                           // (layers, heads) tokens, of positional_share
  double largest = 0;                                                   // of all scores; 1 where none is above 0

  [[nodiscard]] Index count(std::size_t kind) const { return std::count(called.begin(), called.end(), kind); }
};

/// The place in `scored_kinds` of each meaning of the Field.
std::vector<std::size_t> kinds_by_flag(const Field& field) {
  std::vector<std::size_t> kinds;
  for (const std::string& meaning : field.flag_meanings) {
    const auto known = std::ranges::find_if(scored_kinds, [&](const ScoredKind& kind) {
      return (meaning == "positional" ? std::string_view(one_offset_kind) : meaning) ==
             kind.name;  // so called in older results
    });
    if (known == scored_kinds.end() && meaning != "other")
      throw ShapeError(fmt::format("{}: no such kind of head is known here: '{}'", field.name,
                                   shortened(visible_text(meaning), 40)));
    kinds.push_back(static_cast<std::size_t>(known - scored_kinds.begin()));
  }
  return kinds;
}

HeadScores scores_of(const Result& result) {
  const auto& flags = flags_of(result, head_kind_name, {"layer", "head"});
  const Field& field = result.at(head_kind_name);
  HeadScores scores{whole_coordinates(field, "layer"), whole_coordinates(field, "head"), {}, {}, {}, 0};
  const auto kinds = kinds_by_flag(field);
  if (flags.empty()) throw ShapeError(fmt::format("{}: holds no head to draw", head_kind_name));
  for (const std::uint8_t flag : flags) {
    if (flag >= kinds.size())
      throw ShapeError(fmt::format("{}: expected a value below {}, found {}", head_kind_name, kinds.size(), flag));
    scores.called.push_back(kinds[flag]);
  }
  const auto numbers = [&](const char* name) -> const std::vector<double>& {
    const auto& values = doubles_of(result, name, {"layer", "head"});
    if (values.size() != flags.size())
      throw ShapeError(
          fmt::format("{}: expected {} heads as in {}, found {}", name, flags.size(), head_kind_name, values.size()));
    return values;
  };
  for (std::size_t kind = 0; kind < scored_kinds.size(); ++kind) {
    scores.score[kind] = &numbers(scored_kinds[kind].score);
    for (const double score : *scores.score[kind])
      if (std::isfinite(score)) scores.largest = std::max(scores.largest, score);
  }
  if (!(scores.largest > 0)) scores.largest = 1;
  scores.offset = result.find(positional_offset_name) != nullptr ? numbers(positional_offset_name)
                                                                 : std::vector<double>(flags.size(), std::nan(""));
  return scores;
}

DataTable numbers_of(const HeadScores& scores, std::size_t kind) {
  DataTable table({"layer", "head", "kind", "score", "called", "offset"});
  const bool with_offset = std::string_view(scored_kinds[kind].name) == one_offset_kind;
  for (std::size_t i = 0; i < scores.called.size(); ++i)
    table.add_row({scores.layers[i / scores.heads.size()], scores.heads[i % scores.heads.size()],
                   scored_kinds[kind].name, (*scores.score[kind])[i], Index{scores.called[i] == kind},
                   with_offset ? scores.offset[i] : std::nan("")});
  return table;
}

/// ".78", and "1.0" as broad: a score is at most 1.
std::string score_text(double score) {
  if (!std::isfinite(score)) return "";
  const std::string text = fmt::format("{:.2f}", score);
  return text.starts_with("0.") ? text.substr(1) : text.substr(0, 3);
}

/// Scores of the heads that are called so or are not, on dark or on bright colours, as they are written.
DataTable texts_of(const HeadScores& scores, std::size_t kind, bool called, bool dark) {
  DataTable table({"column", "row", "score"});
  for (std::size_t i = 0; i < scores.called.size(); ++i) {
    const double score = (*scores.score[kind])[i];
    if ((scores.called[i] == kind) != called || (score < 0.6 * scores.largest) != dark) continue;
    table.add_row(
        {static_cast<Index>(i % scores.heads.size()), static_cast<Index>(i / scores.heads.size()), score_text(score)});
  }
  return table;
}

PanelGrid types_grid(const HeadScores& scores, const FigureStyle& style) {
  const auto across = static_cast<double>(scores.heads.size()), down = static_cast<double>(scores.layers.size());
  PanelGrid grid;
  grid.panel_width = std::clamp(usual_cell * across, two_titles, widest_panel);
  grid.gap_x = 0.16;
  grid.gap_y = 0.4;
  grid.left = 0.5;
  grid.right = 0.66;
  grid.top = 0.28;
  grid.bottom = 0.42;
  grid = fitted(flowing(grid, scored_kinds.size(), 3), scored_kinds.size(), two_titles, style);
  grid.panel_height = std::max(0.4, down * std::min(tallest_cell, grid.panel_width / across));
  return grid;
}

/// Numbers of layers or heads, as many as do not touch.
Tics numbered_cells(const std::vector<Index>& numbers, double inches, double away, bool shown) {
  const double cell = inches / static_cast<double>(numbers.size());
  Tics tics{.named = every_nth(numbers, static_cast<std::size_t>(std::max(1.0, std::ceil(0.17 / cell)))),
            .points = 7,
            .away = away};
  if (!shown)
    for (Tic& tic : tics.named) tic.name.clear();
  return tics;
}

/// The heads of one kind stand out: by their number, or by a dot where numbers could not be read.
void add_marks(Page& page, Panel& panel, const HeadScores& scores, std::size_t kind, double points) {
  for (const bool called : {false, true})
    for (const bool dark : {false, true}) {
      const DataTable table = texts_of(scores, kind, called, dark);
      if (table.rows().empty()) continue;
      const std::string file = page.data(table);
      if (points > 0 && called) panel.frames(file, "1:2:(0.48):(0.46)", {ink::mark, 1.6});
      if (points > 0)
        panel.texts(file, "1:2:3",
                    {.points = points, .bold = called, .ink = dark ? ink::paper : ink::text, .anchor = Anchor::center});
      else if (called)
        panel.dots(file, "1:2:(0.5)", {.ink = ink::mark});
    }
}

void add_panel(Page& page, const HeadScores& scores, std::size_t kind, double points) {
  const PanelGrid& grid = page.grid();
  const auto across = static_cast<double>(scores.heads.size()), down = static_cast<double>(scores.layers.size());
  const bool lowest = grid.is_lowest(kind, scored_kinds.size()), leftmost = grid.column_of(kind) == 0;
  Panel& panel = page.panel(kind);
  panel.tic_length(0);
  panel.x_axis({-0.5, across - 0.5}, numbered_cells(scores.heads, grid.panel_width, -0.4, lowest));
  panel.y_axis({down - 0.5, -0.5}, numbered_cells(scores.layers, grid.panel_height, -0.5, leftmost));
  if (lowest) panel.title_below("head", 0.3);
  if (leftmost) panel.title_left("layer", 0.32);
  panel.above(scored_kinds[kind].name, Anchor::left, {.points = 8, .bold = true, .up = 0.5});
  panel.above(fmt::format("{} so called", scores.count(kind)), Anchor::right,
              {.points = 6.5, .ink = ink::number, .up = 0.5});
  panel.rectangle({share(0), share(0)}, {share(1), share(1)}, ink::shade_on_paper);
  if (std::ranges::none_of(*scores.score[kind], [](double score) { return std::isfinite(score); }))
    panel.note("undefined", {share(0.5), share(0.5)}, {.points = 7, .ink = ink::note, .anchor = Anchor::center});
  panel.color_range({0, scores.largest});
  if (static_cast<Index>(kind) + 1 == grid.columns)
    panel.color_bar({.x = grid.panel_left(grid.columns - 1) + grid.panel_width + 0.08,
                     .y = grid.panel_bottom(0),
                     .height = grid.panel_height,
                     .tics = {.step = tic_step(scores.largest * std::max(1.0, 0.8 / grid.panel_height)),
                              .first = 0,
                              .points = 6.5,
                              .away = 0.6},
                     .title = "score",
                     .title_right = -0.8});
  page.keep(numbers_of(scores, kind));
  const auto& values = *scores.score[kind];
  const Cells cells{scores.heads.size(), scores.layers.size(),
                    [&](std::size_t head, std::size_t layer) { return values[layer * scores.heads.size() + head]; },
                    [](double column) { return column; }, [](double row) { return row; }};
  panel.heat_map(page.data(pixels(cells, 4, 4)));
  add_marks(page, panel, scores, kind, points);
}

GnuplotFigure draw_head_types(const Result& result, const FigureOptions& options) {
  const HeadScores scores = scores_of(result);
  Page page(types_grid(scores, options.style), options.style);
  const double cell = page.grid().panel_width / static_cast<double>(scores.heads.size());
  const double line = page.grid().panel_height / static_cast<double>(scores.layers.size());
  const double fits = std::min(72 * cell / number_needs, 72 * line / 1.4);
  const double least = legible(0, options.style),
               points = fits >= least ? std::max(least, std::min(0.85 * fits, 7.0)) : 0;
  for (std::size_t kind = 0; kind < scored_kinds.size(); ++kind) add_panel(page, scores, kind, points);
  return page.figure();
}

}  // namespace

FigureKind head_types_figure() {
  return {"head_types",
          {"head_types/kind", "head_types/previous", "head_types/next", "head_types/positional_share",
           "head_types/duplicate", "head_types/induction", "head_types/sink_weight"},
          {"head_types/positional_offset"},
          "Scores by which heads are named, every head a cell: mean weight on the previous or next token, largest "
          "share of queries whose largest weight lies at one offset (which Voita et al. 2019 call positional; here "
          "that is a "
          "verdict of the account), mean weight on earlier occurrences of the query's "
          "token or on what followed them, largest mean weight that one key gets. All panels have one scale. Framed "
          "heads are called so, by the first kind of which they pass the threshold; where cells are too small for "
          "numbers a dot stands in place of the frame. Grey: undefined, as the next token is under a causal mask.",
          draw_head_types};
}

}  // namespace headwave
