#include "made_folders.h"

#include <algorithm>

#include <fmt/format.h>
#include <sys/statvfs.h>

#include "../../core/numbers/error.h"
#include "printable.h"
#include "replaced_file.h"

namespace headwave {

namespace fs = std::filesystem;

MadeFolders::~MadeFolders() {
  std::error_code not_empty;
  for (auto folder = made_.rbegin(); folder != made_.rend(); ++folder) fs::remove(*folder, not_empty);
}

void MadeFolders::make(const fs::path& folder) {
  fs::path outer;
  std::error_code error;
  for (const fs::path& name : folder) {
    outer /= name;
    if (fs::create_directory(outer, error)) made_.push_back(outer);
  }
  if (!error && fs::is_directory(folder, error)) return;
  throw IoError(fmt::format("{}: cannot make the folder: {}", shown_path(folder),
                            error ? error.message() : "a file has its name"));
}

void try_to_write(const fs::path& file) {
  ReplacedFile trial(file);
  trial.write("?");
}

void require_disk_space(const fs::path& folder, std::uintmax_t bytes) {
  struct statvfs disk {};
  // Some network file systems do not know.
  if (::statvfs(folder.c_str(), &disk) != 0 || disk.f_blocks == 0) return;
  const std::uintmax_t free = std::uintmax_t{disk.f_bavail} * disk.f_frsize;
  if (bytes <= free) return;
  throw IoError(
      fmt::format("{}: the result may need {}, {} are free on its disk; make room, choose another folder, or "
                  "ask for fewer documents or analyses",
                  shown_path(folder), size_text(bytes), size_text(free)));
}

std::string size_text(std::uintmax_t bytes) {
  const auto number = static_cast<double>(bytes);
  return number < 1e9 ? fmt::format("{:.0f} MB", std::max(1.0, number / 1e6)) : fmt::format("{:.1f} GB", number / 1e9);
}

}  // namespace headwave
