#include "result_path.h"

#include <string>
#include <utility>

#include <fmt/format.h>

#include "../../core/errors/error.h"
#include "../../job/run/shard_files.h"
#include "../../reports/figures/figures.h"

namespace headwave::cli {

void require_no_begun_run(const std::filesystem::path& folder) {
  std::error_code ignored;
  if (std::filesystem::exists(folder / unfinished_name, ignored))
    throw IoError(fmt::format(
        "{}: holds an unfinished run, but no result yet; continue it with `headwave run --resume`", folder.string()));
  if (holds_shard(folder))
    throw IoError(fmt::format(
        "{}: holds a part of a divided run, but no result yet; join its parts with `headwave merge`", folder.string()));
}

std::filesystem::path result_path(const std::filesystem::path& path) {
  if (std::error_code ignored; !std::filesystem::is_directory(path, ignored)) return path;
  std::filesystem::path file = path / "results.h5";
  if (std::filesystem::exists(file)) return file;
  std::string inner;
  for (const auto& [kind, folder] : kind_folders(path)) inner += (inner.empty() ? "" : ", ") + folder.string();
  if (inner.empty()) {
    require_no_begun_run(path);
    throw IoError(fmt::format("{}: holds no results.h5; expected a result or its folder", path.string()));
  }
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
