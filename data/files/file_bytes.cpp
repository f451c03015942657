#include "file_bytes.h"

#include <algorithm>
#include <cerrno>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../core/errors/error.h"
#include "printable.h"

namespace headwave {

namespace {

void require_bytes(std::size_t first, std::size_t count, std::size_t size) {
  if (first > size || count > size - first)
    throw IoError(fmt::format("{} bytes from byte {} were asked for, {} are there", count, first, size));
}

}  // namespace

std::string ReadableBytes::text(std::size_t first, std::size_t most) const {
  std::string text(std::min(most, size() - std::min(first, size())), '\0');
  read(first, std::as_writable_bytes(std::span(text)));
  return text;
}

FileBytes::FileBytes(const std::filesystem::path& path)
    : path_(path), file_(path, O_RDONLY | O_NONBLOCK) {  // O_NONBLOCK: opening a pipe must not wait for a writer
  if (!file_.is_open()) fail_by_errno(path, "cannot be opened for reading");
  struct stat status {};
  if (::fstat(file_.get(), &status) != 0) fail_by_errno(path, "cannot be examined");
  if (!S_ISREG(status.st_mode))
    throw IoError(fmt::format("{}: expected a file, found {}", shown_path(path),
                              S_ISDIR(status.st_mode) ? "a folder" : "a pipe or device"));
  size_ = static_cast<std::size_t>(status.st_size);
}

void FileBytes::read(std::size_t first, std::span<std::byte> into) const {
  while (!into.empty()) {
    const ssize_t came = ::pread(file_.get(), into.data(), into.size(), static_cast<off_t>(first));
    if (came < 0 && errno == EINTR) continue;
    if (came < 0) fail_by_errno(path_, "cannot be read");
    if (came == 0)
      throw IoError(fmt::format("{}: ends at byte {}, {} more were expected: was it cut short meanwhile?",
                                shown_path(path_), first, into.size()));
    first += static_cast<std::size_t>(came);
    into = into.subspan(static_cast<std::size_t>(came));
  }
}

void PartOfBytes::read(std::size_t first, std::span<std::byte> into) const {
  require_bytes(first, into.size(), size_);
  all_.read(first_ + first, into);
}

void MemoryBytes::read(std::size_t first, std::span<std::byte> into) const {
  require_bytes(first, into.size(), bytes_.size());
  std::copy_n(bytes_.begin() + static_cast<std::ptrdiff_t>(first), into.size(), into.begin());
}

}  // namespace headwave
