#include "head_account_figure.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "../drawing/field_values.h"
#include "../drawing/page.h"
#include "../drawing/visible_text.h"

namespace headwave {

namespace {

constexpr const char* verdict_name = "head_account/verdict";
constexpr const char* strength_name = "head_account/strength";
constexpr const char* head_part_name = "head_account/part";

/// A verdict: its colour, and the letter that says the same without colours.
struct VerdictCell {
  const char* name;
  const char* letter;
  Ink ink;
};
const std::array verdict_cells{
    VerdictCell{"positional", "P", categorical(0)}, VerdictCell{"self", "S", categorical(1)},
    VerdictCell{"order", "O", categorical(3)},      VerdictCell{"mixed", "M", categorical(2)},
    VerdictCell{"no preference", "", ink::rest},    VerdictCell{"undefined", "?", ink::shade_on_paper},
};

/// Strengths from here up to the next, and how much ink they have.
struct StrengthStep {
  double from, opacity;
  const char* name;
};
constexpr std::array strength_steps{StrengthStep{0, 0.2, "below 10 %"}, StrengthStep{0.1, 0.45, "10 to 25 %"},
                                    StrengthStep{0.25, 0.7, "25 to 50 %"}, StrengthStep{0.5, 1, "50 % or more"}};

struct Accounts {
  std::vector<Index> layers, heads;
  std::vector<std::size_t> verdict;        // (layers * heads)  place in verdict_cells
  std::vector<double> strength, position;  // (layers * heads)
};

/// The place in verdict_cells of each value of the Field.
std::vector<std::size_t> places_of_verdicts(const Field& field) {
  std::vector<std::size_t> places;
  for (const std::string& meaning : field.flag_meanings) {
    const auto known = std::ranges::find_if(verdict_cells, [&](const auto& cell) { return meaning == cell.name; });
    if (known == verdict_cells.end())
      throw ShapeError(
          fmt::format("{}: no such verdict is known here: '{}'", field.name, shortened(visible_text(meaning), 40)));
    places.push_back(static_cast<std::size_t>(known - verdict_cells.begin()));
  }
  return places;
}

Accounts accounts_of(const Result& result) {
  const auto& flags = flags_of(result, verdict_name, {"layer", "head"});
  const Field& field = result.at(verdict_name);
  Accounts accounts{whole_coordinates(field, "layer"), whole_coordinates(field, "head"), {}, {}, {}};
  if (flags.empty()) throw ShapeError(fmt::format("{}: holds no head to draw", verdict_name));
  const auto places = places_of_verdicts(field);
  for (const std::uint8_t flag : flags) {
    if (flag >= places.size())
      throw ShapeError(fmt::format("{}: expected a value below {}, found {}", verdict_name, places.size(), flag));
    accounts.verdict.push_back(places[flag]);
  }
  const auto& parts = doubles_of(result, head_part_name, {"cause", "layer", "head"});
  accounts.strength = doubles_of(result, strength_name, {"layer", "head"});
  if (parts.size() != 3 * flags.size() || accounts.strength.size() != flags.size())
    throw ShapeError(fmt::format("{}: expected 3 parts and a strength for each of {} heads, found {} and {}",
                                 head_part_name, flags.size(), parts.size(), accounts.strength.size()));
  accounts.position.assign(parts.begin(), parts.begin() + std::ssize(flags));
  return accounts;
}

/// By the per cent that are written.
std::size_t step_of(double strength) {
  std::size_t step = 0;
  while (step + 1 < strength_steps.size() && std::round(100 * strength) >= 100 * strength_steps[step + 1].from) ++step;
  return step;
}

/// Heads without a preference are pale whatever their strength.
Ink ink_of(std::size_t verdict, std::size_t step) {
  const VerdictCell& cell = verdict_cells[verdict];
  return *cell.letter == '\0' || *cell.letter == '?' ? cell.ink : on_paper(cell.ink, strength_steps[step].opacity);
}

DataTable numbers_of(const Accounts& accounts) {
  DataTable table({"layer", "head", "verdict", "strength", "position"});
  const std::size_t heads = accounts.heads.size();
  for (std::size_t i = 0; i < accounts.verdict.size(); ++i)
    table.add_row({accounts.layers[i / heads], accounts.heads[i % heads], verdict_cells[accounts.verdict[i]].name,
                   accounts.strength[i], accounts.position[i]});
  return table;
}

/// The heads of one ink.
DataTable cells_of(const Accounts& accounts, std::size_t verdict, std::size_t step) {
  DataTable table({"column", "row", "letter", "strength"});
  const std::size_t heads = accounts.heads.size();
  for (std::size_t i = 0; i < accounts.verdict.size(); ++i)
    if (accounts.verdict[i] == verdict && step_of(accounts.strength[i]) == step)
      table.add_row({static_cast<Index>(i % heads), static_cast<Index>(i / heads), verdict_cells[verdict].letter,
                     std::isfinite(accounts.strength[i]) ? fmt::format("{:.0f}", 100 * accounts.strength[i]) : ""});
  return table;
}

DotLegend legend_of(const Accounts& accounts) {
  DotLegend legend{.title = "why: heads", .entries = {}, .away = 0.2, .text_right = 0.12};
  const auto add = [&](const Ink& ink, const std::string& text) {
    legend.entries.push_back({{ink, 1.1, Shape::square}, text});
  };
  for (std::size_t verdict = 0; verdict < verdict_cells.size(); ++verdict)
    if (const auto count = std::ranges::count(accounts.verdict, verdict); count > 0) {
      const VerdictCell& cell = verdict_cells[verdict];
      add(cell.ink, fmt::format("{}{}{}: {}", cell.letter, *cell.letter == '\0' ? "" : "  ", cell.name, count));
    }
  add(ink::paper, "strength:");
  for (std::size_t step = strength_steps.size(); step-- > 0;) add(ink_of(0, step), strength_steps[step].name);
  return legend;
}

/// Numbers of layers or heads, as many as do not touch.
Tics numbered(const std::vector<Index>& numbers, double cell, double away) {
  return {.named = every_nth(numbers, static_cast<std::size_t>(std::max(1.0, std::ceil(0.2 / cell)))), .away = away};
}

PanelGrid grid_of(const Accounts& accounts, std::size_t entries, const FigureStyle& style) {
  const auto across = static_cast<double>(accounts.heads.size()), down = static_cast<double>(accounts.layers.size());
  PanelGrid grid;
  grid.left = 0.5;
  grid.bottom = 0.42;
  grid.top = 0.1;
  grid.right = 1.75;
  return with_cells(grid, accounts.heads.size(), accounts.layers.size(), std::clamp(5.6 / across, 0.12, 0.46),
                    std::clamp(5.6 / std::max(across, down), 0.1, 0.34), entries, style);
}

GnuplotFigure draw_head_account(const Result& result, const FigureOptions& options) {
  const Accounts accounts = accounts_of(result);
  const DotLegend legend = legend_of(accounts);
  const PanelGrid grid = grid_of(accounts, legend.entries.size(), options.style);
  const auto across = static_cast<double>(accounts.heads.size()), down = static_cast<double>(accounts.layers.size());
  const double cell = grid.panel_width / across, line = grid.panel_height / down;
  const double points = std::min({6.5, cell * 72 / 3.4, line * 72 / 2.6});  // of a letter above a number
  const double alone = std::min({6.5, cell * 72 / 2, line * 72 / 1.3});     // of a letter
  const double least = legible(0, options.style);                           // smaller ones are left out
  Page page(grid, options.style);
  Panel& panel = page.panel(0, 0);
  panel.frame(Frame::none);
  panel.x_axis({-0.5, across - 0.5}, numbered(accounts.heads, cell, -0.4));
  panel.y_axis({down - 0.5, -0.5}, numbered(accounts.layers, line, -0.5));
  panel.title_below("head", 0.3);
  panel.title_left("layer", 0.32);
  panel.legend_beside(legend);
  page.keep(numbers_of(accounts));
  for (std::size_t verdict = 0; verdict < verdict_cells.size(); ++verdict)
    for (std::size_t step = 0; step < strength_steps.size(); ++step) {
      const DataTable table = cells_of(accounts, verdict, step);
      if (table.rows().empty()) continue;
      const std::string file = page.data(table);
      const Ink ink = ink_of(verdict, step);
      panel.boxes(file, "1:2:(0.47):(0.46)", ink);
      const bool both = points >= least;
      if (both || alone >= least)
        panel.texts(file, both ? "1:($2-0.2):3" : "1:2:3",
                    {.points = both ? points : alone, .bold = true, .ink = text_on(ink), .anchor = Anchor::center});
      if (both) panel.texts(file, "1:($2+0.22):4", {.points = points, .ink = text_on(ink), .anchor = Anchor::center});
    }
  return page.figure();
}

}  // namespace

FigureKind head_account_figure() {
  return {
      "head_account",
      {verdict_name, strength_name, head_part_name},
      {},
      "Why every head looks where it looks. Colour and letter are the verdict: what gives at least three quarters "
      "of what can be explained of the head's offset profile. Positional, self and order: that much of it is left "
      "when contents are dealt to other places, when every token keeps meeting itself, or only in the order of the "
      "text; mixed: none of the three alone. Ink and number, in per cent, are the profile's strength: attention that "
      "the head draws to offsets within reach beyond uniform attention. Letters and numbers are omitted where cells "
      "are too small to read them.",
      draw_head_account};
}

}  // namespace headwave
