#include "file_lock.h"

#include <array>
#include <cerrno>
#include <string>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include "../../core/errors/error.h"
#include "printable.h"

namespace headwave {

namespace {

std::string content_of_lock(const FileDescriptor& file) {
  std::array<char, 100> text{};
  const ssize_t length = ::pread(file.get(), text.data(), text.size(), 0);
  return printable({text.data(), static_cast<std::size_t>(length > 0 ? length : 0)});
}

/// Whether a path still leads to a lock file that this process holds. If the system does not say, the file is
/// removed.
bool is_held_at(const FileDescriptor& file, const std::filesystem::path& path) {
  try {
    return file.is_at(path, AT_SYMLINK_NOFOLLOW);
  } catch (const IoError&) {
    ::unlink(path.c_str());
    throw;
  }
}

}  // namespace

bool locked(const FileDescriptor& file) {
  return ::flock(file.get(), LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK;
}

FileDescriptor taken_if_unused(const std::filesystem::path& path) {
  FileDescriptor file(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  if (file.is_open() && ::flock(file.get(), LOCK_EX | LOCK_NB) != 0) file.close();
  return file;
}

LockFile::LockFile(const std::filesystem::path& path) : path_(path) {
  do {
    file_ = FileDescriptor(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK);
    if (!file_.is_open()) fail_by_errno(path, "cannot be written");
    if (!locked(file_)) {
      const std::filesystem::path folder = path.has_parent_path() ? path.parent_path() : ".";
      throw IoError(fmt::format("{}: another headwave is writing here ({}), which must end first", shown_path(folder),
                                content_of_lock(file_)),
                    give("out", "DIR", "with another name"));
    }
    // Its last holder may have removed the file meanwhile.
  } while (!is_held_at(file_, path));
  std::array<char, 65> host{};
  (void)::gethostname(host.data(), host.size() - 1);
  // For messages only: the lock holds without these words.
  if (::ftruncate(file_.get(), 0) == 0) (void)file_.write(fmt::format("process {} on {}", ::getpid(), host.data()));
}

LockFile::~LockFile() {
  ::unlink(path_.c_str());
}

}  // namespace headwave
