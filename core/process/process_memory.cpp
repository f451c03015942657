#include "process_memory.h"

#include <algorithm>
#include <fstream>
#include <limits>
#include <string>

#include <sys/resource.h>
#include <unistd.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

namespace headwave {

namespace {

constexpr std::int64_t without_limit = std::numeric_limits<std::int64_t>::max();

/// Reads the number in "MemAvailable:  1234 kB"; without /proc half of the machine's memory.
std::int64_t available() {
  std::ifstream file("/proc/meminfo");
  std::string name, unit;
  for (std::int64_t kilobytes = 0; file >> name >> kilobytes; std::getline(file, unit))
    if (name == "MemAvailable:") return kilobytes * 1024;
  const long pages = ::sysconf(_SC_PHYS_PAGES);
  return pages > 0 ? std::int64_t{pages} * ::sysconf(_SC_PAGESIZE) / 2 : without_limit;
}

/// Reads the limit of the control group named in "0::/path" (version 2); "max" means no limit.
std::int64_t group_limit() {
  std::ifstream groups("/proc/self/cgroup");
  std::string line;
  while (std::getline(groups, line)) {
    if (!line.starts_with("0::")) continue;
    std::ifstream file("/sys/fs/cgroup" + line.substr(3) + "/memory.max");
    if (std::int64_t bytes = 0; file >> bytes) return bytes;
  }
  return without_limit;
}

}  // namespace

std::int64_t resident_bytes() {
  std::ifstream pages("/proc/self/statm");
  std::int64_t all = 0, resident = 0;
  if (pages >> all >> resident) return resident * ::sysconf(_SC_PAGESIZE);
  return most_resident_bytes();
}

std::int64_t most_resident_bytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
#ifdef __APPLE__
  return usage.ru_maxrss;
#else
  return std::int64_t{usage.ru_maxrss} * 1024;
#endif
}

void give_back_freed_memory() {
#ifdef __GLIBC__
  (void)::malloc_trim(0);
#endif
}

std::int64_t free_memory() {
  return std::min(available(), group_limit());
}

}  // namespace headwave
