#include "../../cli/terminal/progress.h"

#include <chrono>
#include <string>
#include <thread>

#include "../../core/process/threads.h"
#include "../catch.h"

using namespace headwave;

TEST_CASE("progress: several threads may tell of it while another writes, and it may begin again after its end") {
  for (int command = 0; command < 2; ++command) {
    const ProgressCallback tell = cli::progress();
    parallel_for(40, 4, [&](Index i) {
      tell({"stage " + std::to_string(i % 3), i, 40});
      cli::progress_at("writing", i, 40);
      std::this_thread::sleep_for(std::chrono::milliseconds(60));  // past the writer's half second
    });
    CHECK_NOTHROW(cli::end_progress());
  }
}
