#include "stage_report.h"

#include <utility>

namespace headwave {

StageReport::StageReport(std::vector<StageCost> plan, ProgressCallback progress)
    : plan_(std::move(plan)), progress_(std::move(progress)) {
  for (const StageCost& stage : plan_) now_.after += stage.seconds;
}

void StageReport::begin(const std::string& name, Index steps) {
  end();
  now_.before += now_.here;
  now_.here = 0;
  std::size_t found = next_;
  while (found < plan_.size() && plan_[found].name != name) ++found;
  if (found < plan_.size()) {
    // Stages that were expected and did not come are neither done nor to be done.
    for (; next_ <= found; ++next_) now_.after -= plan_[next_].seconds;
    now_.here = plan_[found].seconds;
  }
  now_.stage = name;
  now_.total = steps;
  reached(0);
}

void StageReport::reached(Index steps) {
  now_.done = steps;
  if (progress_) progress_(now_);
}

void StageReport::end() {
  if (!now_.stage.empty() && now_.done < now_.total) reached(now_.total);
}

}  // namespace headwave
