#include "progress_text.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace headwave {

std::string duration_text(double seconds) {
  if (seconds < 90) return fmt::format("{:.0f} s", seconds);
  if (seconds < 5400) return fmt::format("{:.0f} min", seconds / 60);
  return fmt::format("{:.1f} h", seconds / 3600);
}

double seconds_left(const JobProgress& now, double passed, double since) {
  const double share = now.total > 0 ? static_cast<double>(now.done) / static_cast<double>(now.total) : 0.0;
  const double done = now.before + share * now.here;
  if (done <= 0 || now.here + now.after <= 0) {
    // Nothing is known of other stages: the steps of this one speak for themselves.
    if (now.before + now.here + now.after > 0 || now.done <= 0) return not_defined;
    return std::max(0.0, passed * (1 - share) / share - since);
  }
  const double rate = passed / done;
  return std::max(rate * ((1 - share) * now.here + now.after) - since, rate * now.after);
}

std::string progress_text(const JobProgress& now, double passed, double since) {
  std::string text = now.stage;
  if (now.total > 1) text += fmt::format(": {} of {}", now.done, now.total);
  const double left = seconds_left(now, passed, since);
  return std::isnan(left) ? text : text + fmt::format(", about {} left", duration_text(std::max(1.0, left)));
}

bool line_due(double passed, double written, bool begins) {
  constexpr double first = 10, longest = 300, stage = 60;
  if (written <= 0) return passed >= first;
  return passed - written >= std::clamp(0.5 * written, first, longest) || (begins && passed - written >= stage);
}

}  // namespace headwave
