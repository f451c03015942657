#include "head_account_figure.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "../drawing/field_values.h"
#include "../drawing/page.h"

namespace headwave {

namespace {

constexpr const char* verdict_name = "head_account/verdict";
constexpr const char* shape_name = "head_account/held_out_shape";
constexpr double smallest_text = 3.0;  // points; smaller shares are left out

/// A verdict and its colours.
struct Verdict {
  const char* name;
  Ink ink, text;
};

const std::array verdicts{
    Verdict{"positional", categorical(0), ink::paper},     Verdict{"mixed", categorical(2), ink::paper},
    Verdict{"content", categorical(1), ink::paper},        Verdict{"no preferred offset", ink::rest, ink::text},
    Verdict{"not accounted for", ink::unnamed, ink::text},
};

struct Accounts {
  std::vector<Index> layers, heads;
  std::vector<std::size_t> verdict;   // (layers * heads) place in `verdicts`
  std::vector<double> position, all;  // (layers * heads) explained shape, of position and of all terms
};

Accounts accounts_of(const Result& result) {
  Accounts accounts;
  const auto& flags = flags_of(result, verdict_name, {"layer", "head"});
  const Field& field = result.at(verdict_name);
  accounts.layers = whole_coordinates(field, "layer");
  accounts.heads = whole_coordinates(field, "head");
  const auto& shapes = doubles_of(result, shape_name, {"term", "layer", "head"});
  if (flags.empty() || shapes.size() != 3 * flags.size())
    throw ShapeError(fmt::format("{}: expected 3 shares for each of {} heads, at least one, found {}", shape_name,
                                 flags.size(), shapes.size()));
  for (std::size_t i = 0; i < flags.size(); ++i) {
    const std::string meaning = flags[i] < field.flag_meanings.size() ? field.flag_meanings[flags[i]] : "";
    const auto known =
        std::find_if(verdicts.begin(), verdicts.end(), [&](const Verdict& v) { return meaning == v.name; });
    if (known == verdicts.end())
      throw ShapeError(fmt::format("{}: value {} stands for no verdict that is known here", verdict_name, flags[i]));
    accounts.verdict.push_back(static_cast<std::size_t>(known - verdicts.begin()));
    accounts.position.push_back(shapes[i]);
    accounts.all.push_back(std::max({shapes[i], shapes[flags.size() + i], shapes[2 * flags.size() + i]}));
  }
  return accounts;
}

std::string percent(double share) {
  return std::isfinite(share) && share > 0 ? fmt::format("{:.0f}", 100 * share) : std::isfinite(share) ? "0" : "";
}

DataTable numbers_of(const Accounts& accounts) {
  DataTable table({"layer", "head", "verdict", "position", "all_terms"});
  for (std::size_t i = 0; i < accounts.verdict.size(); ++i)
    table.add_row({accounts.layers[i / accounts.heads.size()], accounts.heads[i % accounts.heads.size()],
                   verdicts[accounts.verdict[i]].name, accounts.position[i], accounts.all[i]});
  return table;
}

DataTable cells_of(const Accounts& accounts, std::size_t verdict) {
  DataTable table({"column", "row", "position", "all_terms"});
  for (std::size_t i = 0; i < accounts.verdict.size(); ++i)
    if (accounts.verdict[i] == verdict)
      table.add_row({static_cast<Index>(i % accounts.heads.size()), static_cast<double>(i / accounts.heads.size()),
                     percent(accounts.position[i]), percent(accounts.all[i])});
  return table;
}

GnuplotFigure draw(const Result& result, const FigureOptions& options) {
  const Accounts accounts = accounts_of(result);
  const auto across = static_cast<double>(accounts.heads.size()), down = static_cast<double>(accounts.layers.size());
  PanelGrid grid;
  grid.left = 0.5;
  grid.bottom = 0.42;
  grid.top = 0.1;
  grid.right = 1.75;
  grid = with_cells(grid, accounts.heads.size(), accounts.layers.size(), std::clamp(5.6 / across, 0.12, 0.46),
                    std::clamp(5.6 / std::max(across, down), 0.1, 0.34), verdicts.size(), options.style);
  const double cell = grid.panel_width / across, line = grid.panel_height / down;
  const double points = std::min({6.5, cell * 72 / 3.4, line * 72 / 2.6});
  const auto numbered = [](const std::vector<Index>& numbers, double size, double away) {
    return Tics{.named = every_nth(numbers, static_cast<std::size_t>(std::max(1.0, std::ceil(0.2 / size)))),
                .away = away};
  };
  Page page(grid, options.style);
  Panel& panel = page.panel(0, 0);
  panel.frame(Frame::none);
  panel.x_axis({-0.5, across - 0.5}, numbered(accounts.heads, cell, -0.4));
  panel.y_axis({down - 0.5, -0.5}, numbered(accounts.layers, line, -0.5));
  panel.title_below("head", 0.3);
  panel.title_left("layer", 0.32);
  DotLegend legend{.title = "why: heads", .entries = {}, .away = 0.2, .text_right = 0.12};
  for (std::size_t v = 0; v < verdicts.size(); ++v)
    legend.entries.push_back(
        {{verdicts[v].ink, 1.1, Shape::square},
         fmt::format("{}: {}", verdicts[v].name, std::count(accounts.verdict.begin(), accounts.verdict.end(), v))});
  panel.legend_beside(legend);
  page.keep(numbers_of(accounts));
  for (std::size_t v = 0; v < verdicts.size(); ++v) {
    const DataTable cells = cells_of(accounts, v);
    if (cells.rows().empty()) continue;
    const std::string file = page.data(cells);
    panel.boxes(file, "1:2:(0.47):(0.46)", verdicts[v].ink);
    if (points < smallest_text) continue;
    for (const char* text : {"1:($2-0.2):3", "1:($2+0.22):4"})
      panel.texts(file, text, {.points = points, .ink = verdicts[v].text, .anchor = Anchor::center});
  }
  return page.figure();
}

}  // namespace

FigureKind head_account_figure() {
  return {"head_account",
          {verdict_name, shape_name},
          {},
          "What accounts for every head's offset profile. The numbers are shares of its shape in per cent, terms from "
          "one half of the documents and profiles of the other, above what "
          "positions explain alone, below the most that position, content and spread explain together. Positional and "
          "mixed heads prefer offsets by position more than they would with places in random order.",
          draw};
}

}  // namespace headwave
