#include "output_folder.h"

#include <algorithm>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "../../core/numbers/error.h"
#include "read_files.h"

namespace headwave::cli {

namespace fs = std::filesystem;

OutputFolder::OutputFolder(const fs::path& folder, const OutputFiles& files, bool force)
    : folder_(folder.empty()          ? "."
              : folder.has_filename() ? folder
                                      : folder.parent_path()),
      results_(files.results),
      option_(files.option),
      force_(force) {
  require_unread(folder_, files);
  require_free();
  made_.make(folder_);
  lock_.emplace(folder_ / files.lock);
  require_free();  // what another command wrote until now
  // Folders inside are made when they are needed; those that are there may not be ours to write to.
  for (const auto& names : {files.results, files.others})
    for (const fs::path& file : names) {
      require_no_link(folder_ / file);
      if (std::error_code ignored; fs::exists((folder_ / file).parent_path(), ignored)) try_to_write(folder_ / file);
    }
}

void OutputFolder::require_free() const {
  for (const fs::path& file : results_)
    if (std::error_code ignored; !force_ && fs::exists(fs::symlink_status(folder_ / file, ignored)))
      throw IoError(fmt::format("{}: is already there; choose another {}, or replace it with --force",
                                (folder_ / file).string(), option_));
}

std::optional<std::int64_t> OutputFolder::free_space() const {
  const auto free = free_disk_space(folder_);
  if (!free) return std::nullopt;
  constexpr std::uintmax_t most = std::numeric_limits<std::int64_t>::max();
  return static_cast<std::int64_t>(std::min(*free, most));
}

void OutputFolder::require_space(std::int64_t bytes) const {
  const auto free = free_space();
  if (!free || bytes <= *free) return;
  throw IoError(fmt::format(
      "{}: the result may need {}, {} are free on its disk; make room, choose another folder, or "
      "ask for fewer documents or analyses",
      folder_.string(), size_text(static_cast<std::uintmax_t>(bytes)), size_text(static_cast<std::uintmax_t>(*free))));
}

fs::path OutputFolder::inside(const fs::path& name) {
  fs::path folder = folder_ / name;
  require_no_link(folder / "file");
  made_.make(folder);
  return folder;
}

fs::path OutputFolder::link_before(const fs::path& file) const {
  std::error_code ignored;
  for (fs::path inner = file.parent_path(); inner != folder_ && inner.has_relative_path(); inner = inner.parent_path())
    if (fs::is_symlink(inner, ignored)) return inner;
  return {};
}

void OutputFolder::require_no_link(const fs::path& file) const {
  if (const fs::path link = link_before(file); !link.empty())
    throw IoError(
        fmt::format("{}: is a link, and what is written stays in its folder; remove the link, or choose "
                    "another {}",
                    link.string(), option_));
}

void OutputFolder::remove_old(const std::vector<fs::path>& old, const std::vector<fs::path>& written) const {
  if (!force_) return;
  std::vector<fs::path> removed;
  for (const fs::path& file : old) {
    if (std::find(written.begin(), written.end(), file) != written.end() || !link_before(file).empty()) continue;
    std::error_code error;
    fs::remove(file, error);
    if (error)
      throw IoError(
          fmt::format("{}: is of an earlier result and cannot be removed: {}", file.string(), error.message()));
    removed.push_back(file);
  }
  std::error_code not_empty;
  for (const fs::path& file : removed)
    for (fs::path inner = file.parent_path(); inner != folder_ && fs::remove(inner, not_empty);)
      inner = inner.parent_path();
}

void require_unread(const fs::path& folder, const OutputFiles& files) {
  std::vector<fs::path> written{folder / files.lock};
  for (const auto& names : {files.results, files.others, files.more})
    for (const fs::path& name : names) written.push_back(folder / name);
  require_unread(written, files.read, files.option);
}

}  // namespace headwave::cli
