#pragma once

#include <cstdint>

namespace headwave {

/// Bytes of this process that lie in memory now, files that are mapped among them.
std::int64_t resident_bytes();

/// The most there have been since it began.
std::int64_t most_resident_bytes();

/// Gives the system back what was freed in many small pieces, which the allocator keeps for the next ones of their size.
void give_back_freed_memory();

/// Bytes that programs can be given without others being moved to disk, but no more than the control group of this
/// process may have altogether; where the system says neither, more than any machine has. Of processes that share the
/// machine one's part.
std::int64_t free_memory();

/// From now on free_memory() is divided among so many processes, 1 or more.
void share_free_memory(int processes);

}  // namespace headwave
