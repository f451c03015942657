#include "../../job/run/progress_text.h"

#include <cmath>

#include "../catch.h"

using namespace headwave;

namespace {

JobProgress at(Index done, Index total, double before, double here, double after) {
  JobProgress now;
  now.stage = "attention";
  now.done = done;
  now.total = total;
  now.before = before;
  now.here = here;
  now.after = after;
  return now;
}

}  // namespace

TEST_CASE("time left is what is expected after, at the rate of what is done") {
  // 1 + 4 of 10 units in 10 s: 2 s a unit, and 5 are left.
  CHECK(seconds_left(at(1, 2, 1, 8, 1), 10, 0) == Approx(10));
  // Time passes; but what comes after the stage cannot be done within it.
  CHECK(seconds_left(at(1, 2, 1, 8, 1), 10, 3) == Approx(7));
  CHECK(seconds_left(at(1, 2, 1, 8, 1), 10, 30) == Approx(2));
  // The machine is as slow as it was so far.
  CHECK(seconds_left(at(1, 2, 1, 8, 1), 100, 0) == Approx(100));
  CHECK(seconds_left(at(2, 2, 1, 8, 0), 10, 0) == Approx(0));
  // Before anything is done nothing can be said.
  CHECK(std::isnan(seconds_left(at(0, 2, 0, 8, 1), 10, 0)));
  // Where nothing was expected the steps speak for themselves.
  CHECK(seconds_left(at(1, 4, 0, 0, 0), 10, 0) == Approx(30));
  CHECK(seconds_left(at(1, 4, 0, 0, 0), 10, 50) == 0);
  CHECK(std::isnan(seconds_left(at(0, 4, 0, 0, 0), 10, 0)));
  CHECK(std::isnan(seconds_left(at(0, 0, 0, 0, 0), 10, 0)));
}

TEST_CASE("progress is a line of the stage, its steps and the time that is left") {
  CHECK(progress_text(at(1, 2, 1, 8, 1), 10, 0) == "attention: 1 of 2, about 10 s left");
  CHECK(progress_text(at(0, 1, 1, 8, 1), 100, 0) == "attention, about 15 min left");
  CHECK(progress_text(at(0, 1, 0, 8, 1), 100, 0) == "attention");
  CHECK(duration_text(89) == "89 s");
  CHECK(duration_text(600) == "10 min");
  CHECK(duration_text(7200) == "2.0 h");
}

TEST_CASE("a log has its first line after ten seconds, and further ones at growing distances of five minutes at most") {
  CHECK_FALSE(line_due(9.9, 0, true));
  CHECK(line_due(10, 0, false));
  CHECK_FALSE(line_due(19, 10, true));
  CHECK(line_due(20, 10, false));
  CHECK_FALSE(line_due(140, 100, false));
  CHECK(line_due(150, 100, false));
  // A new stage after a minute or more.
  CHECK(line_due(1060, 1000, true));
  CHECK_FALSE(line_due(1060, 1000, false));
  CHECK(line_due(1300, 1000, false));
  // An hour has few lines.
  int lines = 0;
  for (double passed = 0, written = 0; passed < 3600; passed += 0.5)
    if (line_due(passed, written, false)) {
      ++lines;
      written = passed;
    }
  CHECK(lines < 25);
  CHECK(lines > 12);
}
