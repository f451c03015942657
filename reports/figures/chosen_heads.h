#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "../../core/fields/field_reader.h"
#include "../../core/fields/head_name.h"
#include "../../core/fields/measures.h"
#include "figures.h"

namespace headwave {

/// A head that has a panel of its own.
struct ChosenHead {
  HeadName name;
  std::size_t row = 0;  ///< the head's row in the Field, layer * heads + head
  double measured = 0;  ///< measured offset, in tokens; NaN if undefined or not in the result

  [[nodiscard]] std::string text() const { return head_name(name.layer, name.head); }
};

/// Chooses the heads to draw: those named in options.heads, or else the strongest, in the order of the table.
/// @param field  name of a Field whose first axes are (layer, head)
/// @param most   how many heads to choose if options.heads is empty
/// @throws ShapeError if a named head is not in the Field, or the Field has no heads; FormatError if a name
///         is invalid
std::vector<ChosenHead> chosen_heads(const Result& result, std::string_view field, const FigureOptions& options,
                                     std::size_t most = 4);

/// Draws a panel for each of these heads, as many as fit on a page of options.width.
/// @param all  every head of the result, to say how many are not shown
Figure drawn_heads(FigurePanels& panels, const std::vector<ChosenHead>& heads, const FieldHeads& all,
                   const FigureOptions& options);

/// Sets the axes of a panel that has one cell for every head: heads run across, layers run down.
/// @param points  size of the letters in points; 0: as along other axes
void add_head_axes(Panel& panel, const FieldHeads& heads, double points = 0);

/// Says why figures that depend on offsets would show nothing: "no head has a measured offset". Empty if at
/// least one head has a measured offset, or if the result has no Field of measured offsets.
std::string no_offsets(const Result& result, const FigureOptions& options);

/// Names of the requested heads, without repetition. "strongest:6" means the six strongest heads of the
/// table.
/// @param heads  names such as "L2H3" or "strongest:6"
/// @throws ShapeError if the result does not contain a head, or does not say which heads are the strongest;
///         FormatError if a name is invalid
std::vector<std::string> heads_asked_for(const Result& result, const std::vector<std::string>& heads);

/// Formats an offset for a legend, with a true minus sign: "−2", "+1", "0"; "none" if it is NaN.
std::string signed_offset(double offset);

bool any_finite(std::span<const double> numbers);

}  // namespace headwave
