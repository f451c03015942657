#include "head_types_figure.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include <fmt/format.h>

#include "../../core/numbers/error.h"
#include "../drawing/field_values.h"
#include "../drawing/visible_text.h"
#include "cluster_peaks.h"
#include "head_cells.h"

namespace headwave {

namespace {

constexpr const char* kind_name = "head_types/kind";
constexpr const char* offset_name = "head_types/positional_offset";

/// A name that a head can have, and what earns it.
struct Kind {
  CellKind cell;
  const char* score;  // Field; nullptr: none
};

const std::array kinds{
    Kind{{"previous", categorical(0), ink::paper}, "head_types/previous"},
    Kind{{"next", categorical(1), ink::paper}, "head_types/next"},
    Kind{{"positional", categorical(2), ink::paper}, "head_types/positional_share"},
    Kind{{"duplicate", categorical(3), ink::text}, "head_types/duplicate"},
    Kind{{"induction", categorical(4), ink::text}, "head_types/induction"},
    Kind{{"sink", categorical(5), ink::text}, "head_types/sink_weight"},
    Kind{{"other", ink::unnamed, ink::text}, nullptr},
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
    const auto known =
        std::find_if(kinds.begin(), kinds.end(), [&](const Kind& kind) { return meaning == kind.cell.name; });
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
  const bool positional = kinds[types.kind[i]].cell.name == std::string_view("positional") && types.offset != nullptr;
  return positional ? (*types.offset)[i] : std::nan("");
}

DataTable numbers_of(const Types& types) {
  DataTable table({"layer", "head", "kind", "score", "offset"});
  for (std::size_t i = 0; i < types.kind.size(); ++i)
    table.add_row({types.layers[i / types.heads.size()], types.heads[i % types.heads.size()],
                   kinds[types.kind[i]].cell.name, score_of(types, i), offset_of(types, i)});
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

GnuplotFigure draw(const Result& result, const FigureOptions& options) {
  const Types types = types_of(result);
  HeadCells cells{types.layers, types.heads, {}, types.kind, "kind: heads"};
  for (const Kind& kind : kinds) cells.kinds.push_back(kind.cell);
  cells.texts = {"1:3:4", "1:($2+0.22):5"};
  cells.table = [&](std::size_t kind, bool wide) { return cells_of(types, kind, wide); };
  return head_cells_figure(cells, numbers_of(types), options.style);
}

}  // namespace

FigureKind head_types_figure() {
  return {"head_types",
          {"head_types/kind", "head_types/previous", "head_types/next", "head_types/positional_share",
           "head_types/duplicate", "head_types/induction", "head_types/sink_weight"},
          {"head_types/positional_offset"},
          "What every head is called, the first kind of the legend that holds, and the score behind it: mean weight on "
          "the previous or next token, share of queries whose largest weight lies at one offset t (tokens), mean "
          "weight on earlier occurrences of the query's token or on what followed them, largest mean weight that one "
          "key gets.",
          draw};
}

}  // namespace headwave
