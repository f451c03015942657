#pragma once

#include <cstdint>

namespace headwave {

/// Bytes of this process that lie in memory now, files that are mapped among them.
std::int64_t resident_bytes();

/// The most there have been since it began.
std::int64_t most_resident_bytes();

}  // namespace headwave
