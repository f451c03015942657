#pragma once

#include <exception>
#include <map>
#include <mutex>
#include <vector>

#include "../../job/run/document_pass.h"

namespace headwave::cli {

/// So many blocks that each thread has two documents before the next are asked for.
Index wanted_blocks(const DocumentPass& pass);

/// The blocks of a job, handed out in order, and joined in order. One thread joins; any may ask for blocks and bring them.
class BlockLine {
 public:
  /// @param first  block that is not in the pass yet
  /// @param ranks  that ask for blocks
  BlockLine(DocumentPass& pass, Index first, int ranks)
      : pass_(pass), ranks_(ranks), next_(first), joined_(first), end_(pass.blocks().count()) {}

  /// The next blocks, fewer towards the end, so that all end at about one time; none: there are no more, or those before
  /// must come in first, as they wait in memory.
  std::vector<Index> handed_out(Index wanted);
  void came(Index block, BlockSums&& sums);
  /// Keeps the error of the first block, and hands out nothing any more.
  void failed(Index block, std::exception_ptr error);
  /// Adds up those that came and are next in order.
  /// @returns whether there was one
  bool join();
  /// Hands out nothing any more.
  void stop();
  [[nodiscard]] Index joined() const { return joined_; }
  [[nodiscard]] bool is_done() const { return joined_ == end_; }
  [[nodiscard]] bool is_stopped() const;
  [[nodiscard]] bool is_handed_out() const;
  /// @throws what the first block that failed was given
  void rethrow() const;

 private:
  DocumentPass& pass_;
  const Index ranks_;
  mutable std::mutex mutex_;
  Index next_, joined_;
  const Index end_;
  std::map<Index, BlockSums> waiting_;
  bool stopped_ = false;
  std::exception_ptr error_;
  Index error_block_ = 0;
};

}  // namespace headwave::cli
