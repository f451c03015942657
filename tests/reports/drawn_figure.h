#pragma once

// A figure's numbers, and the Fields of a made-up result, for tests that change one and look at the other.

#include <cmath>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "../../core/errors/error.h"
#include "../../core/fields/field.h"
#include "../../reports/drawing/gnuplot.h"
#include "../../reports/figures/figures.h"
#include "../catch.h"
#include "sample_result.h"

/// A line through two points.
inline headwave::GnuplotFigure line_figure() {
  headwave::GnuplotFigure figure(3, 2);
  headwave::DataTable table({"x", "y"});
  table.add_row({0.0, 1.0});
  table.add_row({1.0, 3.0});
  figure.add("plot " + figure.add_numbers(table) + " using 1:2 with lines");
  return figure;
}

/// @throws ShapeError if there is none
inline headwave::Field& field_of(headwave::Result& result, std::string_view name) {
  for (headwave::Field& field : result.fields)
    if (field.name == name) return field;
  throw headwave::ShapeError("no field " + std::string(name));
}

inline std::vector<double>& values_of(headwave::Result& result, std::string_view name) {
  return std::get<std::vector<double>>(field_of(result, name).values);
}

/// How often a part occurs in a text.
inline std::size_t count_of(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + part.size())) ++count;
  return count;
}

inline headwave::FigureOptions asking_for(const std::vector<std::string>& heads) {
  headwave::FigureOptions options;
  options.heads = heads;
  return options;
}

/// @throws ShapeError if there is none
inline const headwave::FigureKind& kind_of_figure(std::string_view name) {
  for (const headwave::FigureKind& one : headwave::figure_kinds())
    if (one.name == name) return one;
  throw headwave::ShapeError("no figure " + std::string(name));
}

/// The numbers of a figure as texts, names of columns first.
inline std::vector<std::vector<std::string>> rows_of(const headwave::GnuplotFigure& figure) {
  const headwave::DataTable& table = figure.numbers().value();
  std::vector<std::vector<std::string>> rows{table.columns()};
  for (const auto& row : table.rows()) {
    rows.emplace_back();
    for (const headwave::Cell& cell : row)
      if (const auto* value = std::get_if<double>(&cell))
        rows.back().push_back(std::isnan(*value) ? "NaN" : fmt::format("{}", *value));
      else if (const auto* count = std::get_if<headwave::Index>(&cell))
        rows.back().push_back(fmt::format("{}", *count));
      else
        rows.back().push_back(std::get<std::string>(cell));
  }
  return rows;
}

inline double number(const std::string& cell) {
  return cell == "NaN" ? std::nan("") : std::stod(cell);
}
