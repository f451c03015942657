#include "head_types_figure.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include <fmt/format.h>

#include "../../core/numbers/error.h"
#include "../drawing/field_values.h"
#include "../drawing/panels.h"
#include "../drawing/visible_text.h"
#include "cluster_peaks.h"

namespace headwave {

namespace {

constexpr const char* kind_name = "head_types/kind";
constexpr const char* offset_name = "head_types/positional_offset";
constexpr double smallest_text = 3.0;  // points; smaller scores are left out

/// A name that a head can have, and what earns it.
struct Kind {
  const char* name;
  const char* score;  // Field; nullptr: none
  const char* color;
  const char* ink;  // of the text on it
};

constexpr std::array kinds{
    Kind{"previous", "head_types/previous", "#0072B2", "#FFFFFF"},
    Kind{"next", "head_types/next", "#D55E00", "#FFFFFF"},
    Kind{"positional", "head_types/positional_share", "#009E73", "#FFFFFF"},
    Kind{"duplicate", "head_types/duplicate", "#CC79A7", "#000000"},
    Kind{"induction", "head_types/induction", "#E69F00", "#000000"},
    Kind{"sink", "head_types/sink_weight", "#56B4E9", "#000000"},
    Kind{"other", nullptr, "#E8E8E8", "#000000"},
};

struct Types {
  std::vector<Index> layers, heads;
  std::vector<std::size_t> kind;                                 // (layers * heads) place in `kinds`
  std::array<const std::vector<double>*, kinds.size()> score{};  // (layers, heads); nullptr: none
  const std::vector<double>* offset = nullptr;                   // (layers, heads) tokens; nullptr: not in the result
};

/// The place in `kinds` of each value of the Field.
std::vector<std::size_t> places_of(const Field& field) {
  std::vector<std::size_t> places;
  for (const std::string& meaning : field.flag_meanings) {
    const auto known = std::find_if(kinds.begin(), kinds.end(), [&](const Kind& kind) { return meaning == kind.name; });
    if (known == kinds.end())
      throw ShapeError(
          fmt::format("{}: no such kind of head is known here: '{}'", kind_name, shortened(visible_text(meaning), 40)));
    places.push_back(static_cast<std::size_t>(known - kinds.begin()));
  }
  return places;
}

Types types_of(const Result& result) {
  Types types;
  const auto& flags = flags_of(result, kind_name, {"layer", "head"});
  const Field& field = result.at(kind_name);
  types.layers = whole_coordinates(field, "layer");
  types.heads = whole_coordinates(field, "head");
  const auto places = places_of(field);
  if (flags.empty()) throw ShapeError(fmt::format("{}: holds no head to draw", kind_name));
  for (const std::uint8_t flag : flags) {
    if (flag >= places.size())
      throw ShapeError(fmt::format("{}: expected a value below {}, found {}", kind_name, places.size(), flag));
    types.kind.push_back(places[flag]);
  }
  const auto numbers = [&](const char* name) {
    const auto& values = doubles_of(result, name, {"layer", "head"});
    if (values.size() != flags.size())
      throw ShapeError(
          fmt::format("{}: expected {} heads as in {}, found {}", name, flags.size(), kind_name, values.size()));
    return &values;
  };
  for (std::size_t kind = 0; kind < kinds.size(); ++kind)
    if (kinds[kind].score != nullptr) types.score[kind] = numbers(kinds[kind].score);
  if (result.find(offset_name) != nullptr) types.offset = numbers(offset_name);
  return types;
}

double score_of(const Types& types, std::size_t i) {
  const std::vector<double>* scores = types.score[types.kind[i]];
  return scores != nullptr ? (*scores)[i] : std::nan("");
}

/// NaN but for positional heads.
double offset_of(const Types& types, std::size_t i) {
  const bool positional = kinds[types.kind[i]].name == std::string_view("positional") && types.offset != nullptr;
  return positional ? (*types.offset)[i] : std::nan("");
}

DataTable numbers_of(const Types& types) {
  DataTable table({"layer", "head", "kind", "score", "offset"});
  for (std::size_t i = 0; i < types.kind.size(); ++i)
    table.add_row({types.layers[i / types.heads.size()], types.heads[i % types.heads.size()], kinds[types.kind[i]].name,
                   score_of(types, i), offset_of(types, i)});
  return table;
}

/// Cells of one kind, and what stands in them: one line in the middle or two.
DataTable cells_of(const Types& types, std::size_t kind, bool wide) {
  DataTable table({"column", "row", "score_row", "score", "offset"});
  for (std::size_t i = 0; i < types.kind.size(); ++i) {
    if (types.kind[i] != kind) continue;
    const double score = score_of(types, i), offset = offset_of(types, i);
    const auto row = static_cast<double>(i / types.heads.size());
    table.add_row({static_cast<Index>(i % types.heads.size()), row, std::isfinite(offset) ? row - 0.2 : row,
                   std::isfinite(score) ? fmt::format("{:.2f}", score) : "",
                   std::isfinite(offset) ? (wide ? "t = " : "") + signed_offset(offset) : ""});
  }
  return table;
}

/// Names every n-th line of the grid, so that the numbers of many heads do not touch.
std::string tics(const std::vector<Index>& numbers, double cell) {
  const auto every = static_cast<std::size_t>(std::max(1.0, std::ceil(0.2 / cell)));
  std::string list;
  for (std::size_t i = 0; i < numbers.size(); i += every)
    list += fmt::format("{}\"{}\" {}", i == 0 ? "" : ", ", numbers[i], i);
  return "(" + list + ")";
}

constexpr double legend_line = 0.17;  // inches

PanelGrid page_of(const Types& types) {
  const auto across = static_cast<double>(types.heads.size());
  const auto down = static_cast<double>(types.layers.size());
  PanelGrid grid;
  grid.panel_width = across * std::clamp(5.6 / across, 0.12, 0.46);
  grid.panel_height = down * std::clamp(5.6 / std::max(across, down), 0.1, 0.3);
  grid.left = 0.5;
  grid.bottom = 0.42;
  grid.top = 0.1;
  grid.right = 1.3;
  const double legend_height = legend_line * static_cast<double>(kinds.size() + 1);
  grid.bottom += std::max(0.0, legend_height - grid.panel_height - grid.bottom);
  return grid;
}

std::string legend(const PanelGrid& grid, const Types& types) {
  const double x = grid.panel_left(0) + grid.panel_width + 0.2;
  double y = grid.height() - grid.top - 0.08;
  std::string commands =
      fmt::format("set label \"kind: heads\" at {} left font \"sans-serif,7\"", grid.page(x - 0.06, y));
  for (std::size_t kind = 0; kind < kinds.size(); ++kind) {
    y -= legend_line;
    commands += fmt::format("\nset label \"\" at {} point pt 5 ps 1.1 lc rgb \"{}\"\nset label \"{}: {}\" at {} left",
                            grid.page(x, y), kinds[kind].color, kinds[kind].name,
                            std::count(types.kind.begin(), types.kind.end(), kind), grid.page(x + 0.12, y));
  }
  return commands;
}

}  // namespace

GnuplotFigure head_types_figure(const Result& result, const FigureOptions& /*options*/) {
  const Types types = types_of(result);
  const PanelGrid grid = page_of(types);
  const auto across = static_cast<double>(types.heads.size()), down = static_cast<double>(types.layers.size());
  const double cell = grid.panel_width / across, line = grid.panel_height / down;
  const double points = std::min({6.0, cell * 72 / 3.4, line * 72 / 2.5});
  GnuplotFigure figure(grid.width(), grid.height());
  figure.add(house_style());
  figure.add(grid.place(0, 0));
  figure.add("set border 0\nset tics scale 0 textcolor rgb \"#404040\"\nset style fill solid 1 noborder");
  figure.add(fmt::format("set xrange [-0.5:{}]\nset yrange [{}:-0.5]", across - 0.5, down - 0.5));
  figure.add(fmt::format("set xtics {} offset 0,0.4\nset ytics {} offset 0.5,0", tics(types.heads, cell),
                         tics(types.layers, line)));
  figure.add(grid.title_below(0, 0, "head", 0.3) + "\n" + grid.title_left(0, 0, "layer", 0.32));
  figure.add(legend(grid, types));
  figure.keep(numbers_of(types));
  std::string plot;
  for (std::size_t kind = 0; kind < kinds.size(); ++kind) {
    const DataTable cells = cells_of(types, kind, cell > 0.3);
    if (cells.rows().empty()) continue;
    const std::string file = figure.add_data(cells);
    plot += fmt::format("{}\"{}\" using 1:2:(0.47):(0.46) with boxxyerror fc rgb \"{}\"", plot.empty() ? "plot " : ", ",
                        file, kinds[kind].color);
    if (points < smallest_text) continue;
    for (const char* text : {"1:3:4", "1:($2+0.22):5"})
      plot += fmt::format(", \"{}\" using {} with labels center font \"sans-serif,{:.2f}\" tc rgb \"{}\"", file, text,
                          points, kinds[kind].ink);
  }
  figure.add(plot);
  return figure;
}

}  // namespace headwave
