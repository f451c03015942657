#include "output_folder.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "../../core/errors/error.h"
#include "../../data/files/printable.h"

namespace headwave::cli {

namespace fs = std::filesystem;

std::vector<fs::path> read_files(const InputOptions& input) {
  return {input.map, input.text, input.target, input.ids, input.states, input.profiles};
}

OutputFolder::OutputFolder(const fs::path& folder, const OutputFiles& files, bool force)
    : folder_(folder.empty()          ? "."
              : folder.has_filename() ? folder
                                      : folder.parent_path()),
      force_(force) {
  std::error_code ignored;
  for (const fs::path& written : files.written)
    for (const fs::path& read : files.read)
      if (fs::equivalent(folder_ / written, read, ignored))
        throw IoError(fmt::format("{}: would replace the input {}; choose another {}", shown_path(folder_ / written),
                                  shown_path(read), files.option));
  for (const fs::path& written : files.written)
    if (!force && fs::exists(fs::symlink_status(folder_ / written, ignored)))
      throw IoError(fmt::format("{}: is already there; choose another {}, or replace it with --force",
                                (folder_ / written).string(), files.option));
  make_folder(folder_);
  lock_.emplace(folder_ / files.lock);
}

fs::path OutputFolder::inside(const fs::path& name) const {
  fs::path folder = folder_ / name;
  make_folder(folder);
  return folder;
}

void OutputFolder::remove(const std::vector<fs::path>& files) const {
  for (const fs::path& file : files) {
    std::error_code error, not_empty;
    fs::remove(file, error);
    if (error)
      throw IoError(
          fmt::format("{}: belongs to an earlier result, but cannot be removed: {}", file.string(), error.message()));
    for (fs::path inner = file.parent_path(); inner != folder_ && fs::remove(inner, not_empty);)
      inner = inner.parent_path();
  }
}

}  // namespace headwave::cli
