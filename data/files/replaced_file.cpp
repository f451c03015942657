#include "replaced_file.h"

#include <atomic>
#include <cerrno>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "../../core/numbers/error.h"
#include "mapped_file.h"
#include "printable.h"

namespace headwave {

namespace {

// Some file systems cannot sync a folder and say EINVAL: they order renames themselves.
bool synced(const FileDescriptor& file) {
  return ::fsync(file.get()) == 0 || errno == EINVAL;
}

bool written(const FileDescriptor& file, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t taken = ::write(file.get(), bytes.data(), bytes.size());
    if (taken < 0 && errno == EINTR) continue;
    if (taken < 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(taken));
  }
  return true;
}

}  // namespace

ReplacedFile::ReplacedFile(const std::filesystem::path& path) : path_(path) {
  if (std::error_code ignored; std::filesystem::is_directory(path, ignored))
    throw IoError(fmt::format("{}: expected the name of a file to write, found a folder", shown_path(path)));
  const std::filesystem::path folder = path.has_parent_path() ? path.parent_path() : ".";
  folder_ = FileDescriptor(folder, O_RDONLY | O_DIRECTORY);
  if (!folder_.is_open())
    fail_by_errno(path, "cannot be written: its folder cannot be opened, to be synced to the disk");
  static std::atomic<unsigned> counter{0};
  for (int attempt = 0; attempt < 100; ++attempt) {
    temporary_ = path;
    temporary_ += fmt::format(".partial-{}-{}", ::getpid(), counter++);
    file_ = FileDescriptor(temporary_, O_WRONLY | O_CREAT | O_EXCL);
    if (file_.is_open()) return;
    if (errno != EEXIST) break;  // left over from a process of the same number that was killed
  }
  fail_by_errno(path, "cannot be written");
}

ReplacedFile::~ReplacedFile() {
  file_.close();
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

void ReplacedFile::write(std::string_view bytes) {
  if (!written(file_, bytes)) fail_by_errno(path_, "cannot be written");
}

void ReplacedFile::commit() {
  require_intact_files();  // nothing gets its name that was made of a file which changed meanwhile
  if (!synced(file_)) fail_by_errno(path_, "cannot be synced to the disk");
  if (!file_.close()) fail_by_errno(path_, "cannot be written");
  if (::rename(temporary_.c_str(), path_.c_str()) != 0) fail_by_errno(path_, "cannot be given its name");
  temporary_.clear();
  if (!synced(folder_))
    fail_by_errno(path_, "cannot be sure to keep its name: its folder cannot be synced to the disk");
}

void write_text(const std::filesystem::path& path, std::string_view text) {
  ReplacedFile file(path);
  file.write(text);
  file.commit();
}

void write_scratch_text(const std::filesystem::path& path, std::string_view text) {
  FileDescriptor file(path, O_WRONLY | O_CREAT | O_TRUNC);
  if (!file.is_open() || !written(file, text) || !file.close()) fail_by_errno(path, "cannot be written");
}

void make_folder(const std::filesystem::path& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) throw IoError(fmt::format("{}: cannot make the folder: {}", shown_path(folder), error.message()));
}

}  // namespace headwave
