#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "../../core/fields/field_reader.h"
#include "../../core/fields/head_name.h"
#include "figure_kind.h"

namespace headwave {

class Panel;
struct PanelFlow;

/// A head that a figure gives a panel of its own.
struct ChosenHead {
  HeadName name;
  std::size_t row = 0;  ///< layer * heads + head along the Field's own axes
  double measured = 0;  ///< measured offset in tokens; NaN: undefined, or not in the result

  [[nodiscard]] std::string text() const { return head_name(name.layer, name.head); }
};

/// The heads to draw of a Field whose axes begin with (layer, head): those that options.heads names, else the
/// strongest of the table, in its order; without measured offsets the first.
/// @param most  how many are chosen unasked
/// @throws ShapeError if a head asked for is not in the Field, or there is none; FormatError if its name is
///         invalid
std::vector<ChosenHead> chosen_heads(const Result& result, std::string_view field, const FigureOptions& options,
                                     std::size_t most = 4);

/// The same heads, as many as fit on the style's page with the panels of `flow`, which become as low as that needs.
/// Its `cut` says what is missing where heads are asked for, its `shown` which were chosen where none is.
std::vector<ChosenHead> heads_on_page(const Result& result, std::string_view field, const FigureOptions& options,
                                      PanelFlow& flow, std::size_t most = 4);

/// Axes of a panel with a cell for every head: heads across, layers down.
/// @param points  size of letters; 0: as along other axes
void add_head_axes(Panel& panel, const FieldHeads& heads, double points = 0);

/// The places of the largest numbers, the largest first; NaN is the smallest, ties go to the first.
std::vector<std::size_t> descending(const std::vector<double>& numbers);

/// The strength of every head of a Field whose axes end with (layer, head, ...): of the account, or where the
/// result has none the mean weight at the measured offset; NaN where the result has neither.
std::vector<double> head_strengths(const Result& result, const FieldHeads& heads, const std::string& pairs);

/// Why figures that follow offsets show nothing: "no head has a measured offset"; empty if one has, or if
/// none was searched for.
std::string no_offsets(const Result& result, const FigureOptions& options);

/// The Fields that say which heads are the strongest: extras of the figures that choose heads.
std::vector<std::string> strength_fields();

/// Which of a result's attention maps to draw, as places along the axis `map_head`: the ones asked for, or
/// the strongest of those worth seeing, in the order of the table.
/// @param largest  (maps) the largest weight of each: maps below a tenth of the largest of all are not worth
///                 seeing
/// @throws ShapeError if a head asked for has no map, naming it and those there are; FormatError if its name
///         is invalid
std::vector<std::size_t> chosen_maps(const Result& result, const FigureOptions& options,
                                     const std::vector<double>& largest, std::size_t most);

/// The names of the heads asked for, each once; "strongest:6" stands for the six strongest of the table.
/// @param heads  "L2H3", "strongest:6"
/// @throws ShapeError if the result knows nothing of a head, or does not say which are the strongest;
///         FormatError if a name is invalid
std::vector<std::string> heads_asked_for(const Result& result, const std::vector<std::string>& heads);

/// An offset for a legend: "−2", "+1", "0" with a true minus sign, "none" if it is NaN.
std::string signed_offset(double offset);

/// The same beside a panel that ends at +-window, with an arrow if the offset lies beyond: "← −58", "+3",
/// "+40 →".
std::string pointed_offset(double offset, double window);

}  // namespace headwave
