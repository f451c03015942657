#pragma once

// A figure's numbers, and the Fields of a made-up result, for tests that change one and look at the other.

#include <cmath>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

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

/// The rows of a file of numbers beside a figure, header first.
inline std::vector<std::vector<std::string>> rows_of(const std::filesystem::path& path) {
  std::istringstream lines(headwave::sample::content_of(path));
  std::vector<std::vector<std::string>> rows;
  for (std::string line; std::getline(lines, line);) {
    rows.emplace_back();
    std::istringstream cells(line);
    for (std::string cell; std::getline(cells, cell, '\t');) rows.back().push_back(cell);
  }
  return rows;
}

/// Those of the last file that a figure writes.
inline std::vector<std::vector<std::string>> rows_of(const headwave::GnuplotFigure& figure) {
  const TemporaryFolder folder;
  return rows_of(std::filesystem::path(figure.write(folder.path(), "figure", {}, true).back()));
}

inline double number(const std::string& cell) {
  return cell == "NaN" ? std::nan("") : std::stod(cell);
}
