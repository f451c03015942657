#include "own_work.h"

#include <exception>
#include <utility>
#include <vector>

#include "../../core/process/stopping.h"
#include "../../job/run/document_pass.h"

namespace headwave::cli {

OwnWork::OwnWork(const DocumentPass& pass, BlockLine& line)
    : line_(line), thread_([this, &pass, &line, asked = Stoppable::flag()] {
        const Stoppable stoppable(asked);
        work(pass, line);
        done_ = true;
      }) {}

OwnWork::~OwnWork() {
  line_.stop();
  thread_.join();
}

void OwnWork::work(const DocumentPass& pass, BlockLine& line) {
  while (!line.is_stopped() && !line.is_handed_out()) {
    const std::vector<Index> blocks = line.handed_out(wanted_blocks(pass));
    if (blocks.empty()) {
      std::this_thread::sleep_for(pause_of_leader);
      continue;
    }
    Index next = blocks.front();
    try {
      pass.run_blocks(blocks, [&](Index block, BlockSums&& sums) {
        line.came(block, std::move(sums));
        next = block + 1;
      });
    } catch (...) {
      line.failed(next, std::current_exception());
    }
  }
}

}  // namespace headwave::cli
