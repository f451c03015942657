#include "file_descriptor.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../core/errors/error.h"
#include "printable.h"

namespace headwave {

FileDescriptor::FileDescriptor(const std::filesystem::path& path, int flags)
    : number_(::open(path.c_str(), flags | O_CLOEXEC, 0666)) {}

FileDescriptor::FileDescriptor(FileDescriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}

FileDescriptor& FileDescriptor::operator=(FileDescriptor&& other) noexcept {
  std::swap(number_, other.number_);
  return *this;
}

bool FileDescriptor::write(std::string_view bytes) const {
  while (!bytes.empty()) {
    const ssize_t taken = ::write(number_, bytes.data(), bytes.size());
    if (taken < 0 && errno == EINTR) continue;
    if (taken < 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(taken));
  }
  return true;
}

// Some file systems, which order renames themselves, cannot sync a folder and report EINVAL.
bool FileDescriptor::sync() const {
  return ::fsync(number_) == 0 || errno == EINVAL;
}

bool FileDescriptor::close() {
  return number_ < 0 || ::close(std::exchange(number_, -1)) == 0;
}

void fail_by_errno(const std::filesystem::path& path, const char* what) {
  throw IoError(fmt::format("{}: {}: {}", shown_path(path), what, std::strerror(errno)));
}

FileDescriptor nameless_file() {
#ifdef __linux__
  return FileDescriptor(::memfd_create("headwave", MFD_CLOEXEC | MFD_ALLOW_SEALING));
#else
  std::string name = (std::filesystem::temp_directory_path() / "headwave-XXXXXX").string();
  FileDescriptor file(::mkstemp(name.data()));
  if (file.is_open()) {
    ::unlink(name.c_str());
    (void)::fcntl(file.get(), F_SETFD, FD_CLOEXEC);
  }
  return file;
#endif
}

FileDescriptor locked_file(const std::filesystem::path& path) {
  for (;;) {
    FileDescriptor file(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK);
    if (!file.is_open()) fail_by_errno(path, "cannot be written");
    if (::flock(file.get(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
      const std::filesystem::path folder = path.has_parent_path() ? path.parent_path() : ".";
      throw IoError(fmt::format("{}: another headwave process is writing here; wait until it ends", shown_path(folder)),
                    give("out", "DIR", "with another name"));
    }
    // The file may have been removed or renamed by its last holder between open and flock.
    struct stat open {
    }, named{};
    const bool is_known = ::fstat(file.get(), &open) == 0 && ::lstat(path.c_str(), &named) == 0;
    if (is_known && open.st_dev == named.st_dev && open.st_ino == named.st_ino) return file;
    if (!is_known && errno != ENOENT) {
      const int why = errno;
      ::unlink(path.c_str());
      errno = why;
      fail_by_errno(path, "cannot be examined");
    }
  }
}

LockFile::~LockFile() {
  ::unlink(path_.c_str());
}

}  // namespace headwave
