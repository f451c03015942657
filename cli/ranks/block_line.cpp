#include "block_line.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace headwave::cli {

Index wanted_blocks(const DocumentPass& pass) {
  const Index documents = pass.blocks().first(1);
  const Index at_once = std::max(Index{2} * pass.threads(), pass.together());
  return std::max<Index>(1, (at_once + documents - 1) / documents);
}

std::vector<Index> BlockLine::handed_out(Index wanted) {
  const std::lock_guard lock(mutex_);
  std::vector<Index> blocks;
  const Index left = end_ - next_, share = std::max<Index>(1, left / (2 * ranks_));
  if (stopped_ || next_ - joined_ >= 2 * ranks_ * wanted) return blocks;
  for (Index i = std::min({wanted, share, left}); i > 0; --i) blocks.push_back(next_++);
  return blocks;
}

void BlockLine::came(Index block, BlockSums&& sums) {
  const std::lock_guard lock(mutex_);
  waiting_.emplace(block, std::move(sums));
}

void BlockLine::failed(Index block, std::exception_ptr error) {
  const std::lock_guard lock(mutex_);
  stopped_ = true;
  if (!error_ || block < error_block_) error_ = std::move(error), error_block_ = block;
}

bool BlockLine::join() {
  const Index before = joined_;
  while (true) {
    std::optional<BlockSums> sums;
    {
      const std::lock_guard lock(mutex_);
      const auto found = waiting_.find(joined_);
      if (found == waiting_.end()) break;
      sums = std::move(found->second);
      waiting_.erase(found);
    }
    pass_.join(std::move(*sums));
    const std::lock_guard lock(mutex_);
    ++joined_;
  }
  return joined_ > before;
}

void BlockLine::stop() {
  const std::lock_guard lock(mutex_);
  stopped_ = true;
}

bool BlockLine::is_stopped() const {
  const std::lock_guard lock(mutex_);
  return stopped_;
}

bool BlockLine::is_handed_out() const {
  const std::lock_guard lock(mutex_);
  return next_ == end_;
}

void BlockLine::rethrow() const {
  if (error_) std::rethrow_exception(error_);
}

}  // namespace headwave::cli
