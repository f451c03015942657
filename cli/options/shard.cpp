#include "shard.h"

#include <charconv>
#include <optional>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

namespace headwave::cli {

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
    return read_shard(text) ? "" : fmt::format("expected a part of so many, 1/16 to 16/16, got '{}'", text);
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
