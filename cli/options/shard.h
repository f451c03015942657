#pragma once

#include <string>

#include "../../core/numbers/matrix.h"
#include "cli11.h"

namespace headwave::cli {

/// One of the parts that work is divided into by hand, counted from 1.
struct Shard {
  Index part = 1, parts = 1;
};

/// Adds --shard, which takes "1/16" to "16/16" and their kin, and goes without --json.
CLI::Option* add_shard_option(CLI::App& command, std::string& shard, const std::string& help);

/// Of a text that --shard takes.
Shard shard_of(const std::string& text);

}  // namespace headwave::cli
