#include "kept_work.h"

#include <fmt/format.h>

#include "../../core/errors/error.h"
#include "../../data/files/file_lock.h"

namespace headwave::cli {

namespace fs = std::filesystem;

fs::path kept_file(const OutputFolder& folder, const fs::path& name, const KeepOptions& options, bool force) {
  fs::path file = folder.path() / name;
  if (options.resume || !fs::exists(fs::symlink_status(file))) return file;
  if (!force)
    throw IoError(
        fmt::format("{}: is what an unfinished run came to; go on with it with --resume, or begin anew with --force",
                    file.string()));
  fs::remove(file);
  return file;
}

void forget_kept(const fs::path& file, const fs::path& lock, const std::function<void()>& others) {
  if (!fs::exists(fs::symlink_status(file)) && !fs::exists(fs::symlink_status(lock))) return;
  const LockFile held(lock);  // which goes with it
  if (others) others();
  fs::remove(file);
}

LastWords resume_words() {
  return LastWords("ended before it was done; go on with --resume");
}

}  // namespace headwave::cli
