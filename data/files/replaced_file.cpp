#include "replaced_file.h"

#include <algorithm>
#include <cerrno>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "../../core/errors/error.h"
#include "digest.h"
#include "printable.h"

namespace headwave {

namespace {

[[noreturn]] void refuse_taken(const std::filesystem::path& path) {
  throw IoError(fmt::format("{}: is already there", shown_path(path)), give("overwrite", "", "to replace it"));
}

}  // namespace

ReplacedFile::ReplacedFile(const std::filesystem::path& path, bool replace)
    : path_(path), temporary_(path), replace_(replace) {
  std::error_code ignored;
  if (!replace && std::filesystem::exists(std::filesystem::symlink_status(path, ignored))) refuse_taken(path);
  const auto refuse = [&](const char* found) {
    throw IoError(fmt::format("{}: expected the name of a file to write, found {}", shown_path(path), found));
  };
  if (std::filesystem::is_directory(path, ignored)) refuse("a folder");
  if (std::filesystem::is_other(path, ignored)) refuse("a pipe or a device");
  // A link such as /dev/stdout leads to a file that is already open.
  if (std::filesystem::read_symlink(path, ignored).string().starts_with("/proc/")) refuse("a link to an open file");
  folder_ = FileDescriptor(path.has_parent_path() ? path.parent_path() : ".", O_RDONLY | O_DIRECTORY);
  if (!folder_.is_open()) fail_by_errno(path, "cannot be written, because its folder cannot be opened");
  temporary_ += ".headwave-partial";
  file_ = locked_file(temporary_);
  if (::ftruncate(file_.get(), 0) == 0) return;
  ::unlink(temporary_.c_str());  // the destructor of an object that was never made does not run
  fail_by_errno(path, "cannot be written");
}

ReplacedFile::~ReplacedFile() {
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

void ReplacedFile::write(std::string_view bytes) {
  if (!file_.write(bytes)) fail_by_errno(path_, "cannot be written");
}

void ReplacedFile::seal() const {
  const std::string seal = seal_of(sha256_of_file(temporary_));
  if (::lseek(file_.get(), 0, SEEK_END) < 0 || !file_.write(seal)) fail_by_errno(path_, "cannot be written");
}

void ReplacedFile::commit() {
  if (!file_.sync()) fail_by_errno(path_, "cannot be synced to the disk");
  // link() never replaces a file. Without links, rename() must do: the name was free when writing began.
  const bool linked = !replace_ && ::link(temporary_.c_str(), path_.c_str()) == 0;
  if (!replace_ && !linked && errno == EEXIST) refuse_taken(path_);
  if (linked)
    ::unlink(temporary_.c_str());
  else if (::rename(temporary_.c_str(), path_.c_str()) != 0)
    fail_by_errno(path_, "the finished file cannot be moved to this name");
  temporary_.clear();
  if (!file_.close()) fail_by_errno(path_, "cannot be written");  // not earlier: the lock keeps others out
  if (!folder_.sync())
    fail_by_errno(path_, "may be lost in a power failure, because its folder cannot be synced to the disk");
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
