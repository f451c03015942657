#include "made_folders.h"

#include <algorithm>

#include <fmt/format.h>
#include <sys/statvfs.h>

#include "../../core/errors/error.h"
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

std::optional<std::uintmax_t> free_disk_space(const fs::path& folder) {
  struct statvfs disk {};
  if (::statvfs(folder.c_str(), &disk) != 0 || disk.f_blocks == 0) return std::nullopt;
  return std::uintmax_t{disk.f_bavail} * disk.f_frsize;
}

std::string size_text(std::uintmax_t bytes) {
  const auto number = static_cast<double>(bytes);
  if (number >= 1e9) return fmt::format("{:.1f} GB", number / 1e9);
  return number >= 1e7 ? fmt::format("{:.0f} MB", number / 1e6) : fmt::format("{:.1f} MB", std::max(0.1, number / 1e6));
}

}  // namespace headwave
