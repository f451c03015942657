#include "label_places.h"

#include <algorithm>
#include <cmath>

namespace headwave {

namespace {

constexpr double letter = 0.64;     // em, of capitals and digits
constexpr double clearance = 0.02;  // inches around everything

struct Box {
  double left, right, bottom, top;
  [[nodiscard]] bool touches(const Box& other) const {
    return left < other.right && other.left < right && bottom < other.top && other.bottom < top;
  }
};

Box box_of(const LabelledDot& dot) {
  const double half = dot.size / 2;
  return {dot.x - half, dot.x + half, dot.y - half, dot.y + half};
}

/// Right, left, above, below.
std::vector<Box> candidates(const LabelledDot& dot, double points) {
  const double width = static_cast<double>(dot.text.size()) * letter * points / 72;
  const double height = points / 72;
  const double away = dot.size / 2 + clearance;
  std::vector<Box> boxes;
  const auto add = [&](double x, double y) {
    boxes.push_back({x - width / 2, x + width / 2, y - height / 2, y + height / 2});
  };
  const double across = away + width / 2, up = away + height / 2;
  for (const auto& [right, above] : {std::pair{1.0, 0.0}, {-1.0, 0.0}, {0.0, 1.0}, {0.0, -1.0}})
    add(dot.x + right * across, dot.y + above * up);
  return boxes;
}

}  // namespace

std::vector<LabelPlace> label_places(const std::vector<LabelledDot>& dots, const LabelArea& area) {
  std::vector<Box> taken;
  for (const LabelledDot& dot : dots) taken.push_back(box_of(dot));
  std::vector<LabelPlace> places;
  for (std::size_t d = 0; d < dots.size() && places.size() < area.most; ++d) {
    if (dots[d].text.empty()) continue;
    for (const Box& box : candidates(dots[d], area.points)) {
      const bool inside = box.left > clearance && box.right < area.width - clearance && box.bottom > clearance &&
                          box.top < area.height - clearance;
      if (!inside || std::any_of(taken.begin(), taken.end(), [&](const Box& other) { return box.touches(other); }))
        continue;
      places.push_back({d, box.left, (box.bottom + box.top) / 2});
      taken.push_back({box.left - clearance, box.right + clearance, box.bottom - clearance, box.top + clearance});
      break;
    }
  }
  return places;
}

}  // namespace headwave
