#include "result_path.h"

#include <string>
#include <utility>

#include <fmt/format.h>

#include "../../core/numbers/error.h"
#include "../../reports/figures/written_files.h"

namespace headwave::cli {

std::filesystem::path result_path(const std::filesystem::path& path) {
  if (std::error_code ignored; !std::filesystem::is_directory(path, ignored)) return path;
  std::filesystem::path file = path / "results.h5";
  if (std::filesystem::exists(file)) return file;
  std::string inner;
  for (const auto& [kind, folder] : kind_folders(path)) inner += (inner.empty() ? "" : ", ") + folder.string();
  if (inner.empty()) throw IoError(fmt::format("{}: holds no results.h5", path.string()));
  throw IoError(fmt::format("{}: holds a result for each kind of attention; name one of {}", path.string(), inner));
}

std::map<AttentionKind, std::filesystem::path> result_files(const std::filesystem::path& folder) {
  if (std::filesystem::path file = folder / "results.h5"; std::filesystem::exists(file))
    return {{AttentionKind::self, std::move(file)}};
  auto files = kind_folders(folder);
  for (auto& [kind, file] : files) file /= "results.h5";
  return files;
}

}  // namespace headwave::cli
