#include "replaced_file.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "../../core/errors/error.h"
#include "digest.h"
#include "file_bytes.h"
#include "file_descriptor.h"
#include "printable.h"

namespace headwave {

namespace {

/// Stands between a file's name and the numbers of its temporary name.
constexpr const char* partial_mark = ".partial-";

/// Removes temporary files of processes that died while they wrote the file.
void remove_left_overs(const std::filesystem::path& folder, const std::string& name) {
  std::error_code error;
  for (std::filesystem::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    const std::filesystem::path file = entry->path();
    const std::string found = file.filename().string(), mark = name + partial_mark;
    if (!found.starts_with(mark) || !is_numbered_name(std::string_view(found).substr(mark.size()), "#-#")) continue;
    if (const FileDescriptor unused = taken_if_unused(file); unused.is_open()) ::unlink(file.c_str());
  }
}

/// The next temporary name of a file, unique in this process.
std::filesystem::path temporary_name(const std::filesystem::path& path) {
  static std::atomic<unsigned> counter{0};
  std::filesystem::path name = path;
  name += fmt::format("{}{}-{}", partial_mark, ::getpid(), counter++);
  return name;
}

}  // namespace

ReplacedFile::ReplacedFile(const std::filesystem::path& path) : path_(path) {
  if (std::error_code ignored; std::filesystem::is_directory(path, ignored))
    throw IoError(fmt::format("{}: expected the name of a file to write, found a folder", shown_path(path)));
  if (std::error_code ignored; std::filesystem::is_other(std::filesystem::status(path, ignored)))
    throw IoError(fmt::format("{}: expected the name of a file to write, found a pipe or a device", shown_path(path)));
  // A link to an open file, as /dev/stdout is, belongs to the system.
  if (std::error_code ignored; std::filesystem::read_symlink(path, ignored).string().starts_with("/proc/"))
    throw IoError(
        fmt::format("{}: expected the name of a file to write, found a link to an open file", shown_path(path)));
  const std::filesystem::path folder = path.has_parent_path() ? path.parent_path() : ".";
  folder_ = FileDescriptor(folder, O_RDONLY | O_DIRECTORY);
  if (!folder_.is_open())
    fail_by_errno(path, "cannot be written: its folder cannot be opened, to be synced to the disk");
  remove_left_overs(folder, path.filename().string());
  for (int attempt = 0; attempt < 100; ++attempt) {
    temporary_ = temporary_name(path);
    file_ = FileDescriptor(temporary_, O_WRONLY | O_CREAT | O_EXCL);
    // Another process may have removed it as a left-over before it was locked.
    if (file_.is_open() && locked(file_) && std::filesystem::exists(temporary_)) return;
    if (!file_.is_open() && errno != EEXIST) break;  // there may be one of a process of the same number elsewhere
  }
  fail_by_errno(path, "cannot be written");
}

ReplacedFile::~ReplacedFile() {
  file_.close();
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

void ReplacedFile::write(std::string_view bytes) {
  if (!file_.write(bytes)) fail_by_errno(path_, "cannot be written");
}

void ReplacedFile::seal() const {
  const std::string seal = seal_of_file(temporary_);
  if (::lseek(file_.get(), 0, SEEK_END) < 0 || !file_.write(seal)) fail_by_errno(path_, "cannot be written");
}

void ReplacedFile::commit() {
  if (!file_.sync()) fail_by_errno(path_, "cannot be synced to the disk");
  if (!file_.close()) fail_by_errno(path_, "cannot be written");
  if (::rename(temporary_.c_str(), path_.c_str()) != 0) fail_by_errno(path_, "cannot be given its name");
  temporary_.clear();
  if (!folder_.sync()) fail_by_errno(path_, "cannot be sure to keep its name: its folder cannot be synced to the disk");
}

void commit_all(const std::vector<std::unique_ptr<ReplacedFile>>& files) {
  for (const auto& file : files) file->commit();
}

void write_text(const std::filesystem::path& path, std::string_view text) {
  ReplacedFile file(path);
  file.write(text);
  file.commit();
}

void make_folder(const std::filesystem::path& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) throw IoError(fmt::format("{}: cannot make the folder: {}", shown_path(folder), error.message()));
}

bool is_numbered_name(std::string_view name, std::string_view pattern) {
  for (const char expected : pattern) {
    const std::size_t digits = std::min(name.find_first_not_of("0123456789"), name.size());
    if (expected == '#' ? digits == 0 : !name.starts_with(expected)) return false;
    name.remove_prefix(expected == '#' ? digits : 1);
  }
  return name.empty();
}

}  // namespace headwave
