#include "result_path.h"

#include <string>

#include <fmt/format.h>

#include "../../core/numbers/error.h"
#include "../../reports/figures/written_files.h"

namespace headwave::cli {

std::filesystem::path result_path(const std::filesystem::path& path) {
  if (std::error_code ignored; !std::filesystem::is_directory(path, ignored)) return path;
  std::filesystem::path file = path / "results.h5";
  if (std::filesystem::exists(file)) return file;
  std::string inner;
  for (const std::filesystem::path& kind : kind_folders(path)) inner += (inner.empty() ? "" : ", ") + kind.string();
  if (inner.empty()) throw IoError(fmt::format("{}: holds no results.h5", path.string()));
  throw IoError(fmt::format("{}: holds a result for each kind of attention; name one of {}", path.string(), inner));
}

}  // namespace headwave::cli
