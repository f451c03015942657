#pragma once

#include <string>
#include <vector>

namespace headwave {

/// A dot on a panel, in inches from the panel's left and lower edge.
struct LabelledDot {
  double x = 0, y = 0;
  double size = 0;   ///< diameter
  std::string text;  ///< empty: wants no label, but none may cover it
};

/// Where a label begins.
struct LabelPlace {
  std::size_t dot = 0;  ///< which of the dots it belongs to
  double left = 0;      ///< inches, of the text's left end
  double middle = 0;    ///< inches, of half its height
};

/// The panel that labels have to stay in, and how large they are.
struct LabelArea {
  double width = 2, height = 2;  ///< inches
  double points = 6;             ///< size of the letters
  std::size_t most = 8;          ///< labels
};

/// Places for labels beside their dots, right, left, above or below, so that none touches a dot, another label or the
/// edge. A label that finds no place is left out.
/// @param dots  the ones whose labels matter most first
std::vector<LabelPlace> label_places(const std::vector<LabelledDot>& dots, const LabelArea& area);

}  // namespace headwave
