#pragma once

// A figure's numbers, and the Fields of a made-up result, for tests that change one and look at the other.

#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "../../core/errors/error.h"
#include "../../core/fields/field.h"
#include "../../reports/figures/figures.h"
#include "../catch.h"
#include "sample_result.h"

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

/// A figure's script without its blocks of data.
inline std::string commands_of(const headwave::Figure& figure) {
  std::istringstream script(figure.script());
  std::string commands, end;
  for (std::string line; std::getline(script, line);)
    if (!end.empty())
      end = line == end ? "" : end;
    else if (const auto at = line.find(" << _end_"); line.starts_with("$data") && at != std::string::npos)
      end = line.substr(at + 4);
    else
      commands += line + '\n';
  return commands;
}

/// What a panel shows in one way, "image" or "filledcurves" say, first below.
inline std::vector<headwave::Series> drawn_as(const headwave::Panel& panel, std::string_view with) {
  std::vector<headwave::Series> found;
  for (const headwave::Series& one : panel.series)
    if (one.with.starts_with(with)) found.push_back(one);
  return found;
}

/// How much of a figure is shown in one way.
inline std::size_t count_drawn(const headwave::Figure& figure, std::string_view with) {
  std::size_t count = 0;
  for (const headwave::Panel& panel : figure.panels) count += drawn_as(panel, with).size();
  return count;
}

/// The numbers of a column.
inline std::vector<double> column_of(const headwave::Series& series, std::size_t column) {
  std::vector<double> numbers;
  for (const auto& row : series.rows)
    if (const auto* count = std::get_if<headwave::Index>(&row[column]))
      numbers.push_back(static_cast<double>(*count));
    else
      numbers.push_back(std::get<double>(row[column]));
  return numbers;
}
