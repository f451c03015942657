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
};

/// The heads to draw of a Field whose axes begin with (layer, head): those that options.heads names, else the few whose
/// measured offset is clearest, layer by layer.
///
/// Clearest is where the weight exceeds what chance reaches by the largest factor. The first head of every offset comes
/// before the second of any, since heads of one offset look alike.
/// @param most  how many are chosen unasked
/// @throws ShapeError if a head asked for is not in the Field, or there is none; FormatError if its name is none
std::vector<ChosenHead> chosen_heads(const Result& result, std::string_view field, const FigureOptions& options,
                                     std::size_t most = 4);

/// The Fields that say which heads are the clearest: extras of the figures that choose heads.
std::vector<std::string> clearness_fields();

/// Refuses heads that a result knows nothing of, whatever is drawn of it.
/// @param heads  "L2H3"
/// @throws ShapeError that says which there are; FormatError if a name is none
void require_heads(const Result& result, const std::vector<std::string>& heads);

}  // namespace headwave
