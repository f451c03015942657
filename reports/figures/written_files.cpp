#include "written_files.h"

#include <fmt/format.h>

#include "figures.h"

namespace headwave {

namespace fs = std::filesystem;

std::map<AttentionKind, fs::path> kind_folders(const fs::path& folder) {
  std::map<AttentionKind, fs::path> folders;
  for (const AttentionKind kind : {AttentionKind::self, AttentionKind::causal, AttentionKind::cross})
    if (std::error_code ignored; fs::exists(folder / name_of(kind) / "results.h5", ignored))
      folders.emplace(kind, folder / name_of(kind));
  return folders;
}

std::vector<std::string> figure_files(const std::string& name, const std::vector<std::string>& formats) {
  std::vector<std::string> names{name + ".txt"};
  for (const std::string& format : formats) names.push_back(fmt::format("{}.{}", name, format));
  return names;
}

std::vector<fs::path> written_files(const fs::path& folder) {
  std::vector<fs::path> places, files;
  std::error_code ignored;
  if (fs::exists(folder / "results.h5", ignored))
    places.push_back(folder);
  else if (const auto kinds = kind_folders(folder); kinds.size() > 1)  // a single one may be a result of its own
    for (const auto& [kind, place] : kinds) places.push_back(place);
  for (const fs::path& place : places) {
    std::vector<fs::path> names{"results.h5", "report.html"};
    for (const FigureKind& kind : figure_kinds())
      for (const std::string& name : figure_files(kind.name, {"pdf", "svg", "png"}))
        names.push_back(fs::path("figures") / name);
    for (const fs::path& name : names)
      if (fs::is_regular_file(fs::symlink_status(place / name, ignored))) files.push_back(place / name);
  }
  return files;
}

}  // namespace headwave
