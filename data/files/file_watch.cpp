#include "file_watch.h"

#include <mutex>
#include <set>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "../../core/errors/error.h"
#include "file_descriptor.h"
#include "printable.h"

namespace headwave {

namespace {

std::mutex watching;
std::set<FileWatch*> all_watched;
std::filesystem::path closed_unlike;  // a file that was changed and closed before anybody was told

bool is_same_file(const struct stat& a, const struct stat& b) {
  return a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

bool is_same_content(const struct stat& a, const struct stat& b) {
  return a.st_size == b.st_size && a.st_mtim.tv_sec == b.st_mtim.tv_sec && a.st_mtim.tv_nsec == b.st_mtim.tv_nsec;
}

}  // namespace

FileStamp::FileStamp(std::filesystem::path path) : path_(std::move(path)) {
  if (::stat(path_.c_str(), &then_) != 0) fail_by_errno(path_, "cannot be examined");
}

FileStamp::FileStamp(std::filesystem::path path, int descriptor) : path_(std::move(path)) {
  if (::fstat(descriptor, &then_) != 0) fail_by_errno(path_, "cannot be examined");
}

bool FileStamp::was_changed() const {
  struct stat now {};
  return ::stat(path_.c_str(), &now) == 0 && is_same_file(now, then_) && !is_same_content(now, then_);
}

void FileStamp::require_same() const {
  struct stat now {};
  if (::stat(path_.c_str(), &now) == 0 && is_same_file(now, then_) && is_same_content(now, then_)) return;
  throw IoError(
      fmt::format("{}: was replaced or written to while it was in use; start again, and leave the file alone "
                  "meanwhile",
                  shown_path(path_)));
}

FileWatch::FileWatch(std::filesystem::path path, int descriptor) : stamp_(std::move(path), descriptor) {
  const std::lock_guard lock(watching);
  all_watched.insert(this);
}

FileWatch::~FileWatch() {
  const std::lock_guard lock(watching);
  all_watched.erase(this);
  if (closed_unlike.empty() && !told_ && was_changed()) closed_unlike = stamp_.path();
}

void require_intact_files() {
  const std::lock_guard lock(watching);
  std::filesystem::path changed = std::exchange(closed_unlike, {});
  for (FileWatch* const file : all_watched)
    if (file->was_changed()) {
      file->told_ = true;
      changed = file->stamp_.path();
    }
  if (!changed.empty())
    throw IoError(
        fmt::format("{}: was cut short or written to while it was in use, or its disk failed; start again, "
                    "and leave the file alone meanwhile",
                    shown_path(changed)));
}

}  // namespace headwave
