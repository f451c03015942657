#include "read_files.h"

#include <algorithm>
#include <map>
#include <optional>
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
  for (const fs::path& file : {input.map, input.text, input.target, input.ids, input.features,
                               input.states, input.stored.states.map})
    files.push_back(file);
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

}  // namespace headwave::cli
