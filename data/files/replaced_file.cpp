#include "replaced_file.h"

#include <atomic>
#include <cerrno>
#include <cstring>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "../../core/numbers/error.h"
#include "printable.h"

namespace headwave {

namespace {

[[noreturn]] void fail(const std::filesystem::path& path, const char* what) {
  throw IoError(fmt::format("{}: {}: {}", printable(path.string(), 400), what, std::strerror(errno)));
}

// Some file systems cannot sync a folder and say EINVAL: they order renames themselves.
bool synced(int file) {
  return ::fsync(file) == 0 || errno == EINVAL;
}

bool written(int file, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t taken = ::write(file, bytes.data(), bytes.size());
    if (taken < 0 && errno == EINTR) continue;
    if (taken < 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(taken));
  }
  return true;
}

/// A file or folder of the operating system, open while it lives.
class Descriptor {
 public:
  Descriptor(const std::filesystem::path& path, int flags) : file_(::open(path.c_str(), flags | O_CLOEXEC, 0666)) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() { close(); }
  [[nodiscard]] int get() const { return file_; }
  bool close() { return file_ < 0 || ::close(std::exchange(file_, -1)) == 0; }

 private:
  int file_;
};

}  // namespace

ReplacedFile::ReplacedFile(const std::filesystem::path& path) : path_(path) {
  if (std::error_code ignored; std::filesystem::is_directory(path, ignored))
    throw IoError(
        fmt::format("{}: expected the name of a file to write, found a folder", printable(path.string(), 400)));
  const std::filesystem::path folder = path.has_parent_path() ? path.parent_path() : ".";
  folder_ = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder_ < 0) fail(path, "cannot be written: its folder cannot be opened, to be synced to the disk");
  static std::atomic<unsigned> counter{0};
  for (int attempt = 0; attempt < 100; ++attempt) {
    temporary_ = path;
    temporary_ += fmt::format(".partial-{}-{}", ::getpid(), counter++);
    file_ = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (file_ >= 0) return;
    if (errno != EEXIST) break;  // left over from a process of the same number that was killed
  }
  const int reason = errno;
  ::close(folder_);
  errno = reason;
  fail(path, "cannot be written");
}

ReplacedFile::~ReplacedFile() {
  ::close(folder_);
  if (file_ >= 0) ::close(file_);
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

void ReplacedFile::write(std::string_view bytes) {
  if (!written(file_, bytes)) fail(path_, "cannot be written");
}

void ReplacedFile::commit() {
  if (!synced(file_)) fail(path_, "cannot be synced to the disk");
  if (::close(std::exchange(file_, -1)) != 0) fail(path_, "cannot be written");
  if (::rename(temporary_.c_str(), path_.c_str()) != 0) fail(path_, "cannot be given its name");
  temporary_.clear();
  if (!synced(folder_)) fail(path_, "cannot be sure to keep its name: its folder cannot be synced to the disk");
}

void write_text(const std::filesystem::path& path, std::string_view text) {
  ReplacedFile file(path);
  file.write(text);
  file.commit();
}

void write_scratch_text(const std::filesystem::path& path, std::string_view text) {
  Descriptor file(path, O_WRONLY | O_CREAT | O_TRUNC);
  if (file.get() < 0 || !written(file.get(), text) || !file.close()) fail(path, "cannot be written");
}

void make_folder(const std::filesystem::path& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error)
    throw IoError(fmt::format("{}: cannot make the folder: {}", printable(folder.string(), 400), error.message()));
}

}  // namespace headwave
