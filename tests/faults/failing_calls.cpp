// Loaded before the C library (LD_PRELOAD), makes one call of a program fail, as a full or broken disk would:
//   HEADWAVE_FAIL_CALL     write, pwrite, read, ftruncate, fsync, rename, open, fstat or mmap, each with its variants
//   HEADWAVE_FAIL_AT       the n-th such call of the process, from 1
//   HEADWAVE_FAIL_WITH     EIO or ENOSPC, or KILL: the process dies in place of the call
//   HEADWAVE_FAIL_ALWAYS   1: every later one too
//   HEADWAVE_FAIL_PROGRAM  the program this is about; its child processes are left alone
//   HEADWAVE_FAIL_LOG      a file that gets a line for each call that failed: the path it was about
// Streams of the C library write from inside it, where nobody can stand between: stdout, stderr and what fopen() opens
// for writing are replaced by streams that write through here.

// Their headers put functions of their own in place of those that are defined here.
#undef _FORTIFY_SOURCE
#undef _FILE_OFFSET_BITS

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

namespace {

struct Plan {
  std::string call, log;
  long at = 0;
  int error = EIO;
  bool kills = false;
  bool always = false;
};

std::string setting(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

const Plan& plan() {
  static const Plan read = [] {
    Plan plan;
    if (setting("HEADWAVE_FAIL_PROGRAM") != program_invocation_short_name) return plan;
    plan.call = setting("HEADWAVE_FAIL_CALL");
    plan.log = setting("HEADWAVE_FAIL_LOG");
    plan.at = std::atol(setting("HEADWAVE_FAIL_AT").c_str());
    plan.error = setting("HEADWAVE_FAIL_WITH") == "ENOSPC" ? ENOSPC : EIO;
    plan.kills = setting("HEADWAVE_FAIL_WITH") == "KILL";
    plan.always = setting("HEADWAVE_FAIL_ALWAYS") == "1";
    return plan;
  }();
  return read;
}

std::string path_of(int file) {
  char path[4096];
  const auto size = ::readlink(("/proc/self/fd/" + std::to_string(file)).c_str(), path, sizeof path);
  return size < 0 ? "" : std::string(path, static_cast<std::size_t>(size));
}

// Past our own functions, which would count.
void log_failure(const std::string& path) {
  const auto log = static_cast<int>(
      ::syscall(SYS_openat, AT_FDCWD, plan().log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
  const std::string line = path + "\n";
  if (log < 0 || ::syscall(SYS_write, log, line.data(), line.size()) != static_cast<long>(line.size())) std::abort();
  ::close(log);
}

// Whether this call is to fail; errno is set then.
template <class PathOf>
bool fails(std::string_view call, PathOf path) {
  static std::atomic<long> calls{0};
  if (plan().at < 1 || plan().call != call) return false;
  const std::string about = path();
  const long now = ++calls;
  if (now < plan().at || (now > plan().at && !plan().always)) return false;
  log_failure(about);
  if (plan().kills) ::kill(::getpid(), SIGKILL);
  errno = plan().error;
  return true;
}

bool fails_at_file(std::string_view call, int file) {
  return fails(call, [file] { return file == 1 ? "standard output" : file == 2 ? "standard error" : path_of(file); });
}

bool fails_at_path(std::string_view call, const char* path) {
  return fails(call, [path] { return std::string(path); });
}

template <class Function>
Function* next(const char* name) {
  return reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
}

ssize_t write_stream(void* cookie, const char* bytes, std::size_t size) {
  const ssize_t written = ::write(static_cast<int>(reinterpret_cast<std::intptr_t>(cookie)), bytes, size);
  return written < 0 ? 0 : written;  // as fopencookie() wants errors told
}

int close_stream(void* cookie) {
  return ::close(static_cast<int>(reinterpret_cast<std::intptr_t>(cookie)));
}

FILE* stream_of(int file) {
  cookie_io_functions_t functions{};
  functions.write = write_stream;
  functions.close = close_stream;
  return ::fopencookie(reinterpret_cast<void*>(static_cast<std::intptr_t>(file)), "w", functions);
}

__attribute__((constructor)) void replace_standard_streams() {
  if (plan().call != "write") return;
  stdout = stream_of(1);
  stderr = stream_of(2);
  ::setvbuf(stderr, nullptr, _IONBF, 0);
}

FILE* opened_stream(const char* name, const char* path, const char* mode) {
  if (fails_at_path("open", path)) return nullptr;
  if (plan().call != "write" || mode[0] != 'w') return next<FILE*(const char*, const char*)>(name)(path, mode);
  const int file = ::open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
  return file < 0 ? nullptr : stream_of(file);
}

int opened(const char* name, const char* path, int flags, mode_t mode) {
  if (fails_at_path("open", path)) return -1;
  return next<int(const char*, int, ...)>(name)(path, flags, mode);
}

int opened_at(const char* name, int folder, const char* path, int flags, mode_t mode) {
  if (fails_at_path("open", path)) return -1;
  return next<int(int, const char*, int, ...)>(name)(folder, path, flags, mode);
}

// The third argument of open(), which is there only where a file may be made.
#define MODE_OF(flags)                                              \
  mode_t mode = 0;                                                  \
  if (((flags)&O_CREAT) != 0 || ((flags)&O_TMPFILE) == O_TMPFILE) { \
    va_list rest;                                                   \
    va_start(rest, flags);                                          \
    mode = va_arg(rest, mode_t);                                    \
    va_end(rest);                                                   \
  }

}  // namespace

extern "C" {

ssize_t write(int file, const void* bytes, std::size_t size) {
  return fails_at_file("write", file) ? -1 : next<ssize_t(int, const void*, std::size_t)>("write")(file, bytes, size);
}

ssize_t writev(int file, const iovec* parts, int count) {
  return fails_at_file("write", file) ? -1 : next<ssize_t(int, const iovec*, int)>("writev")(file, parts, count);
}

ssize_t pwrite(int file, const void* bytes, std::size_t size, off_t at) {
  return fails_at_file("pwrite", file)
             ? -1
             : next<ssize_t(int, const void*, std::size_t, off_t)>("pwrite")(file, bytes, size, at);
}

ssize_t pwrite64(int file, const void* bytes, std::size_t size, off64_t at) {
  return fails_at_file("pwrite", file)
             ? -1
             : next<ssize_t(int, const void*, std::size_t, off64_t)>("pwrite64")(file, bytes, size, at);
}

ssize_t pwritev(int file, const iovec* parts, int count, off_t at) {
  return fails_at_file("pwrite", file)
             ? -1
             : next<ssize_t(int, const iovec*, int, off_t)>("pwritev")(file, parts, count, at);
}

ssize_t pwritev64(int file, const iovec* parts, int count, off64_t at) {
  return fails_at_file("pwrite", file)
             ? -1
             : next<ssize_t(int, const iovec*, int, off64_t)>("pwritev64")(file, parts, count, at);
}

ssize_t read(int file, void* bytes, std::size_t size) {
  return fails_at_file("read", file) ? -1 : next<ssize_t(int, void*, std::size_t)>("read")(file, bytes, size);
}

ssize_t pread(int file, void* bytes, std::size_t size, off_t at) {
  return fails_at_file("read", file) ? -1
                                     : next<ssize_t(int, void*, std::size_t, off_t)>("pread")(file, bytes, size, at);
}

ssize_t pread64(int file, void* bytes, std::size_t size, off64_t at) {
  return fails_at_file("read", file)
             ? -1
             : next<ssize_t(int, void*, std::size_t, off64_t)>("pread64")(file, bytes, size, at);
}

int ftruncate(int file, off_t size) noexcept {
  return fails_at_file("ftruncate", file) ? -1 : next<int(int, off_t)>("ftruncate")(file, size);
}

int ftruncate64(int file, off64_t size) noexcept {
  return fails_at_file("ftruncate", file) ? -1 : next<int(int, off64_t)>("ftruncate64")(file, size);
}

int fsync(int file) {
  return fails_at_file("fsync", file) ? -1 : next<int(int)>("fsync")(file);
}

int fdatasync(int file) {
  return fails_at_file("fsync", file) ? -1 : next<int(int)>("fdatasync")(file);
}

int fstat(int file, struct stat* status) noexcept {
  return fails_at_file("fstat", file) ? -1 : next<int(int, struct stat*)>("fstat")(file, status);
}

int fstat64(int file, struct stat64* status) noexcept {
  return fails_at_file("fstat", file) ? -1 : next<int(int, struct stat64*)>("fstat64")(file, status);
}

int rename(const char* from, const char* to) noexcept {
  return fails_at_path("rename", to) ? -1 : next<int(const char*, const char*)>("rename")(from, to);
}

int renameat(int from_folder, const char* from, int to_folder, const char* to) noexcept {
  return fails_at_path("rename", to)
             ? -1
             : next<int(int, const char*, int, const char*)>("renameat")(from_folder, from, to_folder, to);
}

int renameat2(int from_folder, const char* from, int to_folder, const char* to, unsigned flags) noexcept {
  return fails_at_path("rename", to) ? -1
                                     : next<int(int, const char*, int, const char*, unsigned)>("renameat2")(
                                           from_folder, from, to_folder, to, flags);
}

int open(const char* path, int flags, ...) {
  MODE_OF(flags)
  return opened("open", path, flags, mode);
}

int open64(const char* path, int flags, ...) {
  MODE_OF(flags)
  return opened("open64", path, flags, mode);
}

// What the two become where the compiler knows that there is no third argument.
int __open_2(const char* path, int flags) {
  return opened("open", path, flags, 0);
}

int __open64_2(const char* path, int flags) {
  return opened("open64", path, flags, 0);
}

int openat(int folder, const char* path, int flags, ...) {
  MODE_OF(flags)
  return opened_at("openat", folder, path, flags, mode);
}

int openat64(int folder, const char* path, int flags, ...) {
  MODE_OF(flags)
  return opened_at("openat64", folder, path, flags, mode);
}

int creat(const char* path, mode_t mode) {
  return opened("open", path, O_WRONLY | O_CREAT | O_TRUNC, mode);
}

FILE* fopen(const char* path, const char* mode) {
  return opened_stream("fopen", path, mode);
}

FILE* fopen64(const char* path, const char* mode) {
  return opened_stream("fopen64", path, mode);
}

void* mmap(void* place, std::size_t size, int protection, int flags, int file, off_t at) noexcept {
  return fails_at_file("mmap", file)
             ? MAP_FAILED
             : next<void*(void*, std::size_t, int, int, int, off_t)>("mmap")(place, size, protection, flags, file, at);
}

void* mmap64(void* place, std::size_t size, int protection, int flags, int file, off64_t at) noexcept {
  return fails_at_file("mmap", file) ? MAP_FAILED
                                     : next<void*(void*, std::size_t, int, int, int, off64_t)>("mmap64")(
                                           place, size, protection, flags, file, at);
}

}  // extern "C"
