#pragma once

#include <cstdint>

namespace headwave {

/// Resident memory of this process in bytes, mapped files included; without /proc the largest so far.
std::int64_t resident_bytes();

/// The largest resident memory since the process started, in bytes.
std::int64_t most_resident_bytes();

/// Returns freed memory that the allocator still holds in small pieces to the system.
void give_back_freed_memory();

/// Bytes available to this process without swapping, limited by its control group; more than any machine has if the
/// system tells neither.
std::int64_t free_memory();

}  // namespace headwave
