#include "mapped_file.h"

#include <sys/mman.h>

#include "file_bytes.h"
#include "file_descriptor.h"

namespace headwave {

MappedFile::MappedFile(const std::filesystem::path& path) : path_(path) {
  const FileBytes file(path);
  size_ = file.size();
  if (size_ == 0) return;  // mmap refuses a length of zero
  void* address = ::mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, file.descriptor(), 0);
  if (address == MAP_FAILED) fail_by_errno(path, "cannot be mapped into memory");
  data_ = static_cast<const std::byte*>(address);
}

MappedFile::~MappedFile() {
  if (data_ != nullptr) ::munmap(const_cast<std::byte*>(data_), size_);
}

}  // namespace headwave
