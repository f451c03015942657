#include "resuming.h"

#include <charconv>
#include <optional>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "../../core/errors/error.h"
#include "../../data/files/file_descriptor.h"
#include "../options/option_row.h"
#include "../options/values.h"

namespace headwave::cli {

void add_resume_options(CLI::App& app, ResumeOptions& options) {
  const OptionRows row(app);
  row("--resume", options.resume, nullptr,
      "resume an interrupted run with the same options and --out; if there is none, begin")
      ->configurable(false);
  row("--keep-every", options.keep_every, "S",
      "save what --resume needs every S seconds of a run; 0: after every document", real_number(0, 1e6))
      ->capture_default_str()
      ->configurable(false);
}

namespace fs = std::filesystem;

fs::path resume_file_in(const OutputFolder& folder, const fs::path& name, const ResumeOptions& options, bool force) {
  fs::path file = folder.path() / name;
  if (options.resume || !fs::exists(fs::symlink_status(file))) return file;
  if (!force)
    throw IoError(
        fmt::format("{}: is what an unfinished run came to; go on with it with --resume, or begin anew with --force",
                    file.string()));
  fs::remove(file);
  return file;
}

void remove_resume_file(const fs::path& file, const fs::path& lock) {
  if (!fs::exists(fs::symlink_status(file)) && !fs::exists(fs::symlink_status(lock))) return;
  const LockFile held(lock);  // which goes with it
  fs::remove(file);
}

namespace {

std::optional<Shard> read_shard(const std::string& text) {
  Shard shard;
  const char* const end = text.data() + text.size();
  const auto part = std::from_chars(text.data(), end, shard.part);
  if (part.ec != std::errc() || part.ptr == end || *part.ptr != '/') return std::nullopt;
  const auto parts = std::from_chars(part.ptr + 1, end, shard.parts);
  if (parts.ec != std::errc() || parts.ptr != end || shard.part < 1 || shard.part > shard.parts) return std::nullopt;
  return shard;
}

}  // namespace

CLI::Option* add_shard_option(CLI::App& command, std::string& shard, const std::string& help) {
  const auto wrong = [](const std::string& text) {
    return read_shard(text)
               ? ""
               : fmt::format("expected PART/PARTS with PART from 1 to PARTS, such as 3/16, got '{}'", text);
  };
  return command.add_option("--shard", shard, help)
      ->check(CLI::Validator(wrong, "", "part"))
      ->type_name("PART/PARTS")
      ->excludes("--json")
      ->configurable(false);
}

Shard shard_of(const std::string& text) {
  return *read_shard(text);
}

}  // namespace headwave::cli
