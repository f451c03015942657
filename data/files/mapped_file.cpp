#include "mapped_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "../../core/numbers/error.h"
#include "file_descriptor.h"
#include "printable.h"

namespace headwave {

MappedFile::MappedFile(const std::filesystem::path& path) : path_(path) {
  // O_NONBLOCK: opening a pipe must not wait for a writer.
  const FileDescriptor file(path, O_RDONLY | O_NONBLOCK);
  if (!file.is_open()) fail_by_errno(path, "cannot be opened for reading");
  struct stat status {};
  if (::fstat(file.get(), &status) != 0) fail_by_errno(path, "cannot be examined");
  if (!S_ISREG(status.st_mode))
    throw IoError(fmt::format("{}: expected a file, found {}", shown_path(path),
                              S_ISDIR(status.st_mode) ? "a folder" : "a pipe or device"));
  size_ = static_cast<std::size_t>(status.st_size);
  if (size_ == 0) return;  // mmap refuses a length of zero
  void* address = ::mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, file.get(), 0);
  if (address == MAP_FAILED) fail_by_errno(path, "cannot be mapped into memory");
  data_ = static_cast<const std::byte*>(address);
}

MappedFile::~MappedFile() {
  if (data_ != nullptr) ::munmap(const_cast<std::byte*>(data_), size_);
}

}  // namespace headwave
