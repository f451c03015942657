#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "../../core/fields/head_name.h"
#include "figure_kind.h"

namespace headwave {

/// A head that a figure gives a panel of its own.
struct ChosenHead {
  HeadName name;
  std::size_t row = 0;  ///< layer * heads + head along the Field's own axes
  double measured = 0;  ///< measured offset in tokens; NaN: undefined, or not in the result

  [[nodiscard]] std::string text() const { return head_name(name.layer, name.head); }
};

/// The heads to draw of a Field whose axes begin with (layer, head): those that options.heads names, else the few whose
/// measured offset is clearest, layer by layer.
///
/// The clearest head is the one whose weight exceeds what chance reaches by the largest factor. The first head of every
/// offset comes before the second of any, since heads of one offset look alike.
/// @param most  how many are chosen unasked
/// @throws ShapeError if a head asked for is not in the Field, or there is none; FormatError if its name is invalid
std::vector<ChosenHead> chosen_heads(const Result& result, std::string_view field, const FigureOptions& options,
                                     std::size_t most = 4);

/// The Fields that say which heads are the clearest: extras of the figures that choose heads.
std::vector<std::string> clearness_fields();

/// Which of a result's attention maps to draw, as places along the axis `map_head`: the ones asked for, or all there
/// are; of more than nine the strongest head of every offset first.
/// @throws ShapeError if a head asked for has no map, naming it and those there are; FormatError if its name is invalid
std::vector<std::size_t> chosen_maps(const Result& result, const FigureOptions& options);

/// Refuses heads that a result knows nothing of, whatever is drawn of it.
/// @param heads  "L2H3"
/// @throws ShapeError that says which there are; FormatError if a name is invalid
void require_heads(const Result& result, const std::vector<std::string>& heads);

/// An offset for a legend: "−2", "+1", "0" with a true minus sign, "none" if it is NaN.
std::string signed_offset(double offset);

/// The same beside a panel that ends at +-window, with an arrow if the offset lies beyond: "← −58", "+3", "+40 →".
std::string pointed_offset(double offset, double window);

/// "←" or "→" if a curve is largest at the end of what a panel shows, so that more may lie beyond; else empty.
/// @param curve  (offsets shown)
std::string end_arrow(const std::vector<double>& curve);

}  // namespace headwave
