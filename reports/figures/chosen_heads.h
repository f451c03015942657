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
  std::size_t row = 0;  ///< layer * heads + head along the axes of the Field
  double measured = 0;  ///< measured offset in tokens; NaN if undefined or not in the result

  [[nodiscard]] std::string text() const { return head_name(name.layer, name.head); }
};

/// The heads to draw: those named in options.heads, otherwise the strongest in the order of the table.
/// @param field  whose axes begin with (layer, head)
/// @param most   number of heads that are chosen if none is named
/// @throws ShapeError if a named head is not in the Field, or the Field has no heads; FormatError if a name
///         is invalid
std::vector<ChosenHead> chosen_heads(const Result& result, std::string_view field, const FigureOptions& options,
                                     std::size_t most = 4);

/// Draws panels of these heads, as many as fit on a page of options.width.
Figure drawn_heads(FigurePanels& panels, const std::vector<ChosenHead>& heads, const FieldHeads& all,
                   const FigureOptions& options);

/// Gives a panel axes with a cell for every head: heads across, layers down.
/// @param points  size of letters; 0: as along other axes
void add_head_axes(Panel& panel, const FieldHeads& heads, double points = 0);

/// Why figures that depend on offsets would show nothing: "no head has a measured offset". Empty if a head
/// has one, or if the result has no such Field.
std::string no_offsets(const Result& result, const FigureOptions& options);

/// The names of the heads asked for, each once; "strongest:6" stands for the six strongest of the table.
/// @param heads  "L2H3", "strongest:6"
/// @throws ShapeError if the result does not contain a head, or does not say which heads are the strongest;
///         FormatError if a name is invalid
std::vector<std::string> heads_asked_for(const Result& result, const std::vector<std::string>& heads);

/// An offset for a legend: "−2", "+1", "0" with a true minus sign, "none" if it is NaN.
std::string signed_offset(double offset);

bool any_finite(std::span<const double> numbers);

}  // namespace headwave
