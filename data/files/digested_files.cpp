#include "digested_files.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include "../../core/errors/error.h"
#include "digest.h"
#include "file_descriptor.h"
#include "printable.h"

namespace headwave {

namespace {

/// A sealed file that was written to is not what its seal says either.
bool still_has(const std::filesystem::path& file, const std::string& digest) {
  try {
    return sha256_list({file}) == digest;
  } catch (const FormatError&) {
    return false;
  }
}

}  // namespace

DigestedFiles::DigestedFiles(const std::vector<std::filesystem::path>& files) {
  for (const std::filesystem::path& file : files) {
    struct stat status {};
    if (::stat(file.c_str(), &status) != 0) fail_by_errno(file, "cannot be examined");
    files_.push_back({file, sha256_list({file}), status.st_dev, status.st_ino});
    list_ += (list_.empty() ? "" : "\n") + files_.back().digest;
  }
}

void DigestedFiles::require_same() const {
  for (const File& file : files_) {
    struct stat status {};
    const bool same =
        ::stat(file.path.c_str(), &status) == 0 && status.st_dev == file.device && status.st_ino == file.number;
    if (same && !still_has(file.path, file.digest))
      throw ChangedFile(fmt::format(
          "{}: was written to while it was in use: its SHA-256 is not what it was before; start again, and leave the "
          "file alone meanwhile",
          shown_path(file.path)));
  }
}

}  // namespace headwave
