#pragma once

#include <cstdint>
#include <exception>
#include <string>
#include <vector>

#include "../../core/numbers/matrix.h"

namespace headwave::cli {

/// Where a process stands among those that one `mpirun` started.
struct RankPlace {
  int number = 0, count = 1;
  int here = 1;  ///< of them on this machine
};

/// Joins the others; alone where there are none.
/// @throws Error if several were started together and the program is built without MPI, or MPI has no room for threads
RankPlace join_ranks();
/// @param together  false: the others are ended, whatever they do
void leave_ranks(bool together);

/// What a process tells the one that leads.
struct RankMessage {
  enum class Kind : std::int64_t {
    asks,      ///< for blocks; `bytes` is the job's identity
    has,       ///< a block; `bytes` are its sums
    gave_up,   ///< `bytes` are an error; nothing comes after it
    finished,  ///< its part; nothing comes after it
  };
  Kind kind = Kind::asks;
  Index number = 0;  ///< blocks that it could do with; the block; the first block it has not done
  std::string bytes;
  int from = 0;  ///< rank; known once it came
};

/// The kind and the words of an error, for RankMessage::bytes.
std::string error_bytes(const std::exception& problem);
/// The error that a message brought, of the same kind, with the rank before its words.
[[noreturn]] void throw_error_in(const RankMessage& message);

/// To rank 0. May be called from any thread, one at a time.
void send_message(const RankMessage& message);
/// @returns whether one came
bool receive_message(RankMessage& message);

/// Blocks for a process to look at; none: it is not needed any more.
void send_blocks(int rank, const std::vector<Index>& blocks);
/// Waits for them.
std::vector<Index> receive_blocks();

}  // namespace headwave::cli
