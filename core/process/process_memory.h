#pragma once

#include <cstdint>

namespace headwave {

/// Resident memory of this process in bytes, including mapped files; without /proc its maximum so far.
std::int64_t resident_bytes();

/// Maximum of the resident memory since the process started, in bytes.
std::int64_t most_resident_bytes();

/// Returns to the system freed memory that the allocator still holds in small pieces.
void give_back_freed_memory();

/// Bytes that this process can use without swapping, limited by its control group; huge if neither is known.
std::int64_t free_memory();

}  // namespace headwave
