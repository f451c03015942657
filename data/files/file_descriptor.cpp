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

bool FileDescriptor::is_at(const std::filesystem::path& path) const {
  struct stat open {
  }, named{};
  if (::fstat(number_, &open) != 0) fail_by_errno(path, "cannot be examined");
  if (::lstat(path.c_str(), &named) != 0) {
    if (errno != ENOENT && errno != ENOTDIR) fail_by_errno(path, "cannot be examined");
    return false;
  }
  return open.st_dev == named.st_dev && open.st_ino == named.st_ino;
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

// Some file systems cannot sync a folder and say EINVAL: they order renames themselves.
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

bool locked(const FileDescriptor& file) {
  return ::flock(file.get(), LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK;
}

FileDescriptor taken_if_unused(const std::filesystem::path& path) {
  FileDescriptor file(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  if (file.is_open() && ::flock(file.get(), LOCK_EX | LOCK_NB) != 0) file.close();
  return file;
}

LockFile::LockFile(const std::filesystem::path& path) : path_(path) {
  const auto is_still_here = [&] {
    try {
      return file_.is_at(path);
    } catch (const IoError&) {
      ::unlink(path.c_str());  // no destructor will
      throw;
    }
  };
  do {
    file_ = FileDescriptor(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK);
    if (!file_.is_open()) fail_by_errno(path, "cannot be written");
    if (!locked(file_)) {
      const std::filesystem::path folder = path.has_parent_path() ? path.parent_path() : ".";
      throw IoError(fmt::format("{}: another headwave is writing here, which must end first", shown_path(folder)),
                    give("out", "DIR", "with another name"));
    }
    // Its last holder may have removed the file meanwhile.
  } while (!is_still_here());
}

LockFile::~LockFile() {
  ::unlink(path_.c_str());
}

}  // namespace headwave
