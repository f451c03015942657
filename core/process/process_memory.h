#pragma once

#include <cstdint>

namespace headwave {

/// Resident memory of this process in bytes, including mapped files. Without /proc it is the maximum so far.
std::int64_t resident_bytes();

/// Maximum of the resident memory since the process started, in bytes.
std::int64_t most_resident_bytes();

/// Returns freed memory, which the allocator still holds in small pieces, to the system.
void give_back_freed_memory();

/// Bytes that this process can use without swapping, within the limit of its control group; huge if unknown.
std::int64_t free_memory();

}  // namespace headwave
