// Loaded with failing_calls.cpp: says of every file system how much is free on it.
//   HEADWAVE_FREE_BYTES    so much; empty: as much as there is

#undef _FILE_OFFSET_BITS

#include <cstdlib>

#include <dlfcn.h>
#include <sys/statvfs.h>

namespace {

template <class Disk>
int told(const char* name, const char* path, Disk* disk) {
  const int failed = reinterpret_cast<int (*)(const char*, Disk*)>(::dlsym(RTLD_NEXT, name))(path, disk);
  const char* bytes = std::getenv("HEADWAVE_FREE_BYTES");
  if (failed == 0 && bytes != nullptr) disk->f_bavail = static_cast<fsblkcnt_t>(std::atoll(bytes)) / disk->f_frsize;
  return failed;
}

}  // namespace

extern "C" {

int statvfs(const char* path, struct statvfs* disk) noexcept {
  return told("statvfs", path, disk);
}

int statvfs64(const char* path, struct statvfs64* disk) noexcept {
  return told("statvfs64", path, disk);
}

}  // extern "C"
