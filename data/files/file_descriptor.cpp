#include "file_descriptor.h"

#include <cerrno>
#include <cstring>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
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

bool FileDescriptor::is_at(const std::filesystem::path& path, int flags) const {
  struct stat open {
  }, named{};
  if (::fstat(number_, &open) != 0) fail_by_errno(path, "cannot be examined");
  if (::fstatat(AT_FDCWD, path.c_str(), &named, flags) != 0) {
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

}  // namespace headwave
