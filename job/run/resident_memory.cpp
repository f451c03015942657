#include "resident_memory.h"

#include <fstream>

#include <sys/resource.h>
#include <unistd.h>

namespace headwave {

std::int64_t resident_bytes() {
  std::ifstream pages("/proc/self/statm");
  std::int64_t all = 0, resident = 0;
  if (pages >> all >> resident) return resident * ::sysconf(_SC_PAGESIZE);
  return most_resident_bytes();
}

std::int64_t most_resident_bytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return std::int64_t{usage.ru_maxrss} * 1024;
}

}  // namespace headwave
