#include "mapped_file.h"

#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../core/numbers/error.h"
#include "printable.h"

namespace headwave {

namespace {

class OpenFile {
 public:
  // O_NONBLOCK: opening a pipe must not wait for a writer.
  explicit OpenFile(const char* path) : number_(::open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {}
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;
  ~OpenFile() {
    if (number_ >= 0) ::close(number_);
  }
  [[nodiscard]] int number() const { return number_; }

 private:
  int number_;
};

[[noreturn]] void fail(const std::filesystem::path& path, const char* what) {
  throw IoError(fmt::format("{}: {}: {}", printable(path.string(), 400), what, std::strerror(errno)));
}

}  // namespace

MappedFile::MappedFile(const std::filesystem::path& path) : path_(path) {
  const OpenFile file(path.c_str());
  if (file.number() < 0) fail(path, "cannot be opened for reading");
  struct stat status {};
  if (::fstat(file.number(), &status) != 0) fail(path, "cannot be examined");
  if (!S_ISREG(status.st_mode))
    throw IoError(fmt::format("{}: expected a file, found {}", printable(path.string(), 400),
                              S_ISDIR(status.st_mode) ? "a folder" : "a pipe or device"));
  size_ = static_cast<std::size_t>(status.st_size);
  if (size_ == 0) return;  // mmap refuses a length of zero
  void* address = ::mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, file.number(), 0);
  if (address == MAP_FAILED) fail(path, "cannot be mapped into memory");
  data_ = static_cast<const std::byte*>(address);
}

MappedFile::~MappedFile() {
  if (data_ != nullptr) ::munmap(const_cast<std::byte*>(data_), size_);
}

}  // namespace headwave
