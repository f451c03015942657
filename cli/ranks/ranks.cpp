#include "ranks.h"

#include <algorithm>
#include <chrono>
#include <string>
#include <thread>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

#include "../../core/errors/error.h"
#include "../../core/process/process_memory.h"
#include "../../job/run/document_pass.h"
#include "../../job/run/kept_bytes.h"
#include "../../job/run/unfinished_run.h"
#include "../terminal/terminal.h"
#include "block_line.h"
#include "own_work.h"
#include "rank_messages.h"

namespace headwave::cli {

namespace {

using Said = RankMessage::Kind;

/// The other processes, as the leader sees them.
class Followers {
 public:
  Followers(DocumentPass& pass, BlockLine& line, const std::string& identity, std::vector<bool>& released)
      : pass_(pass), line_(line), identity_(identity), released_(released), asks_(released.size(), 0) {}

  /// @returns whether somebody said something
  bool listen() {
    RankMessage& message = heard_;
    if (!receive_message(message)) return false;
    const auto from = static_cast<std::size_t>(message.from);
    if (message.kind == Said::has) {
      line_.came(message.number, pass_.read_block(ByteReader(message.bytes)));
    } else if (message.kind == Said::gave_up) {
      released_[from] = true;
      remember(message.number, [&] { throw_error_in(message); });
    } else {
      asks_[from] = message.number;
      remember(-1, [&] { require_same_identity(message.bytes, identity_, fmt::format("rank {}", message.from)); });
    }
    return true;
  }
  /// Gives blocks to those who ask for some.
  void give() {
    for (std::size_t rank = 1; rank < asks_.size(); ++rank) {
      if (asks_[rank] == 0) continue;
      const std::vector<Index> blocks = line_.handed_out(asks_[rank]);
      if (blocks.empty()) return;
      send_blocks(static_cast<int>(rank), blocks);
      asks_[rank] = 0;
    }
  }
  /// Tells those who ask that there is nothing more.
  void release() {
    for (std::size_t rank = 1; rank < asks_.size(); ++rank)
      if (asks_[rank] != 0) {
        send_blocks(static_cast<int>(rank), {});
        asks_[rank] = 0;
        released_[rank] = true;
      }
  }
  [[nodiscard]] bool are_released() const { return std::ranges::all_of(released_, std::identity()); }

 private:
  template <class Body>
  void remember(Index block, const Body& body) {
    try {
      body();
    } catch (...) {
      line_.failed(block, std::current_exception());
    }
  }

  DocumentPass& pass_;
  BlockLine& line_;
  const std::string& identity_;
  std::vector<bool>& released_;
  RankMessage heard_;        ///< the last: its memory serves the next
  std::vector<Index> asks_;  ///< by rank: blocks that it could do with; 0: it has some
};

}  // namespace

Ranks::Ranks() {
  const RankPlace place = join_ranks();
  number_ = place.number;
  count_ = place.count;
  here_ = place.here;
  share_free_memory(here_);
  released_.assign(static_cast<std::size_t>(count_), false);
  released_.front() = true;
}

Ranks::~Ranks() {
  if (number_ != 0 && !released_[static_cast<std::size_t>(number_)]) fail(Error("left before it was asked to"));
  constexpr auto patience = std::chrono::seconds(10);
  const auto begin = std::chrono::steady_clock::now();
  const auto all = [&] { return number_ != 0 || std::ranges::all_of(released_, std::identity()); };
  RankMessage message;
  while (!all() && std::chrono::steady_clock::now() - begin < patience) {
    if (!receive_message(message)) {
      std::this_thread::sleep_for(pause_of_leader);
      continue;
    }
    if (message.kind == Said::has) continue;
    if (message.kind == Said::asks) send_blocks(message.from, {});
    released_[static_cast<std::size_t>(message.from)] = true;
  }
  leave_ranks(all());
}

int Ranks::threads(int asked) const {
  if (asked > 0) return asked;
  const auto allowed = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
  const auto there = static_cast<int>(::sysconf(_SC_NPROCESSORS_ONLN));
  return allowed < there ? allowed : std::max(1, allowed / here_);  // fewer: mpirun has given each its own
}

void Ranks::lead(const Attributes& identity, DocumentPass& pass, StageReport& report, int threads,
                 UnfinishedRun* kept) {
  const Index first = pass.go_on(report, kept);
  pass.look_with(threads);
  const std::string identity_bytes = identity_text(identity);
  const DocumentBlocks& blocks = pass.blocks();
  BlockLine line(pass, first, count_);
  Followers others(pass, line, identity_bytes, released_);
  {
    const OwnWork own(pass, line);
    bool is_over = false;
    while (!is_over) {
      bool moved = others.listen();
      if (line.join()) {
        moved = true;
        report.reached(blocks.first(line.joined()));
        if (kept != nullptr && kept->is_due() && !line.is_done())
          kept->keep(blocks.first(line.joined()), [&](ByteWriter& bytes) {
            pass.write_sums(bytes);
            DocumentPass::write(bytes, pass.new_block());
          });
      }
      others.give();
      if (line.is_stopped() || line.is_done()) others.release();
      is_over = own.is_done() && others.are_released() && (line.is_done() || line.is_stopped());
      if (!moved) std::this_thread::sleep_for(pause_of_leader);
    }
  }
  line.rethrow();
}

void Ranks::follow(const Attributes& identity, DocumentPass& pass, StageReport& report) {
  report.begin("preparation");
  pass.prepare();
  Index next = 0;
  RankMessage block_message{Said::has, 0, {}};
  try {
    while (true) {
      send_message({Said::asks, wanted_blocks(pass), identity_text(identity)});
      const std::vector<Index> blocks = receive_blocks();
      if (blocks.empty()) break;
      next = blocks.front();
      pass.run_blocks(blocks, [&](Index block, const BlockSums& sums) {
        ByteWriter bytes(std::move(block_message.bytes));
        DocumentPass::write(bytes, sums);
        block_message.number = block;
        block_message.bytes = bytes.taken();
        send_message(block_message);
        next = block + 1;
      });
    }
  } catch (const std::exception& problem) {
    send_message({Said::gave_up, next, error_bytes(problem)});
  }
  released_[static_cast<std::size_t>(number_)] = true;
}

void Ranks::finished() {
  send_message({Said::finished, 0, {}});
  released_[static_cast<std::size_t>(number_)] = true;
}

void Ranks::hear() {
  if (count_ == 1) return;
  RankMessage message;
  while (receive_message(message)) {
    released_[static_cast<std::size_t>(message.from)] = true;
    if (message.kind == Said::gave_up) throw_error_in(message);
  }
}

void Ranks::wait() {
  for (hear(); !std::ranges::all_of(released_, std::identity()); hear()) std::this_thread::sleep_for(pause_of_leader);
}

void Ranks::attempt(const std::function<void()>& part) {
  quiet() = true;
  try {
    part();
  } catch (const std::exception& problem) {
    fail(problem);
  }
}

void Ranks::fail(const std::exception& problem) {
  send_message({Said::gave_up, -1, error_bytes(problem)});
  released_[static_cast<std::size_t>(number_)] = true;
}

}  // namespace headwave::cli
