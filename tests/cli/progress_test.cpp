#include "../../cli/terminal/progress.h"

#include <string>

#include "../../core/process/threads.h"
#include "../catch.h"

using namespace headwave;

TEST_CASE("progress: several threads may tell of it, and it may begin again after its end") {
  for (int command = 0; command < 2; ++command) {
    const ProgressCallback tell = cli::progress();
    parallel_for(4000, 4, [&](Index i) { tell({"stage " + std::to_string(i % 3), i, 4000}); });
    CHECK_NOTHROW(cli::end_progress());
  }
}
