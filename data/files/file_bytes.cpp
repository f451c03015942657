#include "file_bytes.h"

#include <algorithm>
#include <cerrno>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../core/errors/error.h"
#include "printable.h"

namespace headwave {

FileBytes::FileBytes(const std::filesystem::path& path)
    : path_(path),  // O_NONBLOCK: opening a pipe must not wait for a writer
      file_(std::make_shared<const FileDescriptor>(path, O_RDONLY | O_NONBLOCK)) {
  if (!file_->is_open()) fail_by_errno(path, "cannot be opened for reading");
  struct stat status {};
  if (::fstat(file_->get(), &status) != 0) fail_by_errno(path, "cannot be examined");
  if (!S_ISREG(status.st_mode))
    throw IoError(fmt::format("{}: expected a file, found {}", shown_path(path),
                              S_ISDIR(status.st_mode) ? "a folder" : "a pipe or device"));
  size_ = static_cast<std::size_t>(status.st_size);
}

FileBytes FileBytes::part(std::size_t first, std::size_t size) const {
  FileBytes bytes = *this;
  bytes.first_ += first;
  bytes.size_ = size;
  return bytes;
}

std::string FileBytes::text(std::size_t first, std::size_t most) const {
  std::string text(std::min(most, size_ - std::min(first, size_)), '\0');
  read(first, std::as_writable_bytes(std::span(text)));
  return text;
}

void FileBytes::read(std::size_t first, std::span<std::byte> into) const {
  const auto cut_short = [&] {
    throw IoError(fmt::format(
        "{}: expected {} more bytes after byte {}, but the file ends earlier: did another program shorten it?",
        shown_path(path_), into.size(), first));
  };
  if (first > size_ || into.size() > size_ - first) cut_short();
  while (!into.empty()) {
    const ssize_t came = ::pread(file_->get(), into.data(), into.size(), static_cast<off_t>(first_ + first));
    if (came < 0 && errno == EINTR) continue;
    if (came < 0) fail_by_errno(path_, "cannot be read");
    if (came == 0) cut_short();
    first += static_cast<std::size_t>(came);
    into = into.subspan(static_cast<std::size_t>(came));
  }
}

MappedFile::MappedFile(const std::filesystem::path& path) : MappedFile(FileBytes(path)) {}

MappedFile::MappedFile(const FileBytes& file) : path_(file.path()), size_(file.size()) {
  if (size_ > 0) {  // mmap refuses a length of zero
    void* address = ::mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, file.descriptor(), 0);
    if (address == MAP_FAILED) fail_by_errno(path_, "cannot be mapped into memory");
    data_ = static_cast<const std::byte*>(address);
  }
}

MappedFile::~MappedFile() {
  if (data_ != nullptr) ::munmap(const_cast<std::byte*>(data_), size_);
}

void MappedFile::let_go(std::size_t first, std::size_t count) const {
  constexpr std::size_t piece = std::size_t{2} << 20U;  // a multiple of every page size
  if (count == 0 || first >= size_) return;
  const std::size_t begin = first / piece * piece, end = std::min(size_, (first + count + piece - 1) / piece * piece);
  // This is advice: if the system ignores it, the pages stay until it needs their memory.
  (void)::madvise(const_cast<std::byte*>(data_) + begin, end - begin, MADV_DONTNEED);
}

}  // namespace headwave
