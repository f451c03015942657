#include "progress.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace headwave {

void StageReport::begin(const std::string& name, Index steps, Index done_before) {
  end();
  now_ = {name, done_before, steps, done_before};
  reached(done_before);
}

void StageReport::reached(Index steps) {
  now_.done = steps;
  if (progress_) progress_(now_);
}

void StageReport::end() {
  if (!now_.stage.empty() && now_.done < now_.total) reached(now_.total);
}

std::string duration_text(double seconds) {
  if (seconds < 90) return fmt::format("{:.0f} s", seconds);
  if (seconds < 5400) return fmt::format("{:.0f} min", seconds / 60);
  return fmt::format("{:.1f} h", seconds / 3600);
}

double seconds_left(const JobProgress& now, double passed, double since) {
  const Index done = now.done - now.done_before;
  if (done <= 0) return not_defined;
  return std::max(0.0, passed * static_cast<double>(now.total - now.done) / static_cast<double>(done) - since);
}

std::string progress_text(const JobProgress& now, double passed, double since) {
  if (now.total <= 1) return now.stage;
  const std::string text = fmt::format("{}: {} of {}", now.stage, now.done, now.total);
  const double left = seconds_left(now, passed, since);
  return std::isnan(left) ? text : text + fmt::format(", about {} left", duration_text(std::max(1.0, left)));
}

bool line_due(double passed, double written, bool begins) {
  constexpr double first = 10, longest = 300, stage = 60;
  if (written <= 0) return passed >= first;
  return passed - written >= std::clamp(0.5 * written, first, longest) || (begins && passed - written >= stage);
}

}  // namespace headwave
