#include "output_folder.h"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <sys/stat.h>

#include "../../core/errors/error.h"
#include "../../data/files/printable.h"
#include "../../reports/figures/written_files.h"

namespace headwave::cli {

namespace {

namespace fs = std::filesystem;

/// By which the system knows a file, whatever its name.
using FileNumber = std::pair<dev_t, ino_t>;

/// None of a folder, nor of what is not there.
std::optional<FileNumber> number_of(const fs::path& file) {
  struct stat status {};
  if (::stat(file == "-" ? "/dev/stdin" : file.c_str(), &status) != 0 || S_ISDIR(status.st_mode)) return std::nullopt;
  return FileNumber{status.st_dev, status.st_ino};
}

/// Whether an earlier headwave wrote it into its folder.
bool is_own(const fs::path& file) {
  const fs::path folder = file.parent_path();
  for (const auto& own : {written_files(folder), written_spectra(folder)})
    if (std::ranges::find(own, file) != own.end()) return true;
  return false;
}

}  // namespace

std::vector<fs::path> read_files(const InputOptions& input) {
  std::vector<fs::path> files{folder_of_model(input.model)};
  for (const fs::path& file : {input.map, input.text, input.target, input.ids, input.states}) files.push_back(file);
  files.insert(files.end(), input.profiles.begin(), input.profiles.end());
  std::erase_if(files, [](const fs::path& file) { return file.empty(); });
  return files;
}

fs::path folder_of_model(const fs::path& model) {
  if (std::error_code ignored; model.empty() || fs::is_directory(model, ignored)) return model;
  return model.has_parent_path() ? model.parent_path() : ".";
}

void require_unread(const std::vector<fs::path>& written, const std::vector<fs::path>& read,
                    const std::string& option) {
  std::map<FileNumber, fs::path> lost;
  for (const fs::path& file : written)
    if (const auto number = number_of(file)) lost.emplace(*number, file);
  if (lost.empty()) return;
  const auto require = [&](const fs::path& file, bool in_folder) {
    const auto number = number_of(file);
    const auto found = number ? lost.find(*number) : lost.end();
    if (found == lost.end() || (in_folder && is_own(file))) return;
    throw IoError(fmt::format("{}: would be replaced, and is the input {}; choose another {}",
                              shown_path(found->second), shown_path(file), option));
  };
  for (const fs::path& place : read) {
    require(place, false);
    std::error_code none;
    for (fs::directory_iterator entry(place, none), end; !none && entry != end; entry.increment(none))
      require(entry->path(), true);
  }
}

namespace fs = std::filesystem;

namespace {

/// What no file can take the place of, ReplacedFile refuses too, but only when it is written.
void require_file(const fs::path& path) {
  std::error_code ignored;
  const fs::file_status status = fs::status(path, ignored);
  if (fs::is_directory(status) || fs::is_other(status))
    throw IoError(fmt::format("{}: expected the name of a file to write, found a {}", path.string(),
                              fs::is_directory(status) ? "folder" : "pipe or a device"));
}

}  // namespace

OutputFolder::OutputFolder(const fs::path& folder, const OutputFiles& files, bool force)
    : folder_(folder.empty()          ? "."
              : folder.has_filename() ? folder
                                      : folder.parent_path()),
      written_(files.written),
      own_(files.own),
      option_(files.option),
      force_(force) {
  require_unread(folder_, files);
  for (const auto& names : {files.written, files.kept})
    for (const fs::path& name : names) require_no_link(folder_ / name);
  require_free();
  made_.make(folder_);
  lock_.emplace(folder_ / files.lock);
  require_free();  // what another command wrote until now
  // Folders inside are made when they are needed; those that are there may not be ours to write to.
  std::set<fs::path> tried;
  for (const auto& names : {files.written, files.kept})
    for (const fs::path& name : names) {
      const fs::path file = folder_ / name;
      require_file(file);
      if (std::error_code ignored; fs::exists(file.parent_path(), ignored) && tried.insert(file.parent_path()).second)
        try_to_write(file);
    }
}

bool OutputFolder::is_free(const fs::path& file) const {
  if (force_ || std::ranges::find(own_, file.lexically_relative(folder_)) != own_.end()) return true;
  std::error_code ignored;
  return !fs::exists(fs::symlink_status(file, ignored));
}

void OutputFolder::require_free() const {
  for (const fs::path& name : written_)
    if (!is_free(folder_ / name))
      throw IoError(fmt::format("{}: is already there; choose another {}, or replace it with --force",
                                (folder_ / name).string(), option_));
}

std::optional<std::int64_t> OutputFolder::free_space() const {
  const auto free = free_disk_space(folder_);
  if (!free) return std::nullopt;
  constexpr std::uintmax_t most = std::numeric_limits<std::int64_t>::max();
  return static_cast<std::int64_t>(std::min(*free, most));
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
  std::vector<fs::path> removed;
  for (const fs::path& file : old) {
    if (std::ranges::find(written, file) != written.end() || !is_free(file) || !link_before(file).empty()) continue;
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
  for (const auto& names : {files.written, files.kept, files.own, files.more})
    for (const fs::path& name : names) written.push_back(folder / name);
  require_unread(written, files.read, files.option);
}

}  // namespace headwave::cli
