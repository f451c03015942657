#include "written_files.h"

#include <optional>

#include <fmt/format.h>

#include "../../core/errors/error.h"
#include "../../core/fields/field_reader.h"
#include "../../data/hdf5/hdf5_file.h"
#include "../../data/results/result_file.h"
#include "figures.h"

namespace headwave {

namespace {

namespace fs = std::filesystem;

/// Where a result came from; nothing if the file is not a result.
std::optional<Attributes> provenance_of(const fs::path& file) {
  try {
    return read_result(Hdf5File(file), {}).provenance;
  } catch (const Error&) {
    return std::nullopt;
  }
}

void add_if_there(std::vector<fs::path>& files, const fs::path& file) {
  std::error_code ignored;
  if (fs::is_regular_file(fs::symlink_status(file, ignored))) files.push_back(file);
}

void add_result(std::vector<fs::path>& files, const fs::path& folder) {
  files.push_back(folder / "results.h5");
  add_if_there(files, folder / "report.html");
  for (const FigureKind& kind : figure_kinds())
    for (const std::string& name : figure_files(kind.name, {"pdf", "svg", "png"}))
      add_if_there(files, folder / "figures" / name);
}

/// Folders of the kinds that one command wrote. A single one may be a result of its own that happens to have
/// the name.
std::vector<fs::path> encoder_decoder(const fs::path& folder) {
  std::map<std::string, std::vector<fs::path>> by_command;
  for (const auto& [kind, inner] : kind_folders(folder)) {
    const Attributes provenance = provenance_of(inner / "results.h5").value_or(Attributes{});
    const std::string command = attribute_text(provenance, "command");
    if (!command.empty() && attribute_text(provenance, "attention") == name_of(kind))
      by_command[command].push_back(inner);
  }
  for (const auto& [command, folders] : by_command)
    if (folders.size() > 1) return folders;
  return {};
}

}  // namespace

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
  std::vector<fs::path> files;
  if (provenance_of(folder / "results.h5")) add_result(files, folder);
  for (const fs::path& inner : encoder_decoder(folder)) add_result(files, inner);
  return files;
}

}  // namespace headwave
