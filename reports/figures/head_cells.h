#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "../../core/fields/field.h"
#include "../drawing/data_table.h"
#include "../drawing/gnuplot.h"
#include "../drawing/page.h"

namespace headwave {

/// What a head can be, and its colours.
struct CellKind {
  const char* name;
  Ink ink;
  Ink text;  ///< on it
};

/// Every head of a model as a cell, layers down and heads across, coloured by what it is.
struct HeadCells {
  std::vector<Index> layers, heads;
  std::vector<CellKind> kinds;    ///< in the order of the legend
  std::vector<std::size_t> kind;  ///< (layers * heads) place in `kinds`
  std::string title = {};         ///< of the legend, which counts the heads of every kind
  double legend = 1.3;            ///< inches that it takes
  double tallest = 0.3;           ///< inches of a cell
  double largest_text = 6;        ///< points
  double lines = 2.5;             ///< of text that a cell must hold
  /// What stands in a cell: columns of its table, as Panel::texts() has them.
  std::vector<const char*> texts = {};
  /// The cells of one kind: column and row first, then what `texts` name.
  /// @param wide  a cell holds more than a number
  std::function<DataTable(std::size_t kind, bool wide)> table = {};
};

/// Layers, heads and what each is called by a Field of flags; the rest as it is.
/// @param name  of flags (layer, head) whose meanings are the names of kinds
/// @throws ShapeError if there is no head, or a meaning or flag that is no kind
HeadCells head_cells(const Result& result, const std::string& name, std::vector<CellKind> kinds);

/// @param numbers  what the figure says, as it is written beside it
GnuplotFigure head_cells_figure(const HeadCells& cells, const DataTable& numbers, const FigureStyle& style);

}  // namespace headwave
