#include "output_folder.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "../../core/errors/error.h"
#include "../../data/files/printable.h"

namespace headwave::cli {

namespace fs = std::filesystem;

std::vector<fs::path> read_files(const InputOptions& input) {
  std::vector<fs::path> files{input.map, input.text, input.target, input.ids, input.states};
  files.insert(files.end(), input.profiles.begin(), input.profiles.end());
  return files;
}

OutputFolder::OutputFolder(const fs::path& folder, const OutputFiles& files, bool force)
    : folder_(folder.empty()          ? "."
              : folder.has_filename() ? folder
                                      : folder.parent_path()),
      written_(files.written),
      option_(files.option),
      force_(force) {
  for (const fs::path& written : written_)
    for (const fs::path& read : files.read)
      if (std::error_code ignored; fs::equivalent(folder_ / written, read, ignored))
        throw IoError(fmt::format("{}: would be replaced, and is the input {}; choose another {}",
                                  shown_path(folder_ / written), shown_path(read), option_));
  require_free();
  make_folder(folder_);
  lock_.emplace(folder_ / files.lock);
  require_free();  // what another command wrote until now
}

void OutputFolder::require_free() const {
  for (const fs::path& name : written_)
    if (std::error_code ignored; !force_ && fs::exists(fs::symlink_status(folder_ / name, ignored)))
      throw IoError(fmt::format("{}: is already there; choose another {}, or replace it with --force",
                                (folder_ / name).string(), option_));
}

fs::path OutputFolder::inside(const fs::path& name) {
  fs::path folder = folder_ / name;
  make_folder(folder);
  return folder;
}

void OutputFolder::remove_outdated(const std::vector<fs::path>& written) {
  for (const fs::path& file : std::exchange(outdated_, {})) {
    if (!force_ || std::ranges::find(written, file) != written.end()) continue;
    std::error_code error, not_empty;
    fs::remove(file, error);
    if (error)
      throw IoError(
          fmt::format("{}: is of an earlier result and cannot be removed: {}", file.string(), error.message()));
    for (fs::path inner = file.parent_path(); inner != folder_ && fs::remove(inner, not_empty);)
      inner = inner.parent_path();
  }
}

}  // namespace headwave::cli
