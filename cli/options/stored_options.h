#pragma once

#include <array>
#include <string>

#include "../../data/sources/stored_states.h"
#include "cli11.h"

namespace headwave::cli {

/// What stored states are, where a file does not say it by itself.
struct StoredOptions {
  StoredStatesOptions states;
  std::string axes;  ///< of the dataset, as typed
};

struct StoredOptionsGiven {
  CLI::Option *head_count, *layer, *dataset, *axes, *states_map, *apply_norm, *any_states;

  /// Those that say where states lie and what they are.
  [[nodiscard]] std::array<const CLI::Option*, 6> where() const {
    return {layer, dataset, axes, states_map, apply_norm, any_states};
  }
};

/// Adds --head-count, --layer, --dataset, --axes, --states-map, --apply-norm and --any-states.
StoredOptionsGiven add_stored_options(CLI::App& command, StoredOptions& options);

/// The same of a command that has no --states: each is refused with the reason.
StoredOptionsGiven refuse_stored_options(CLI::App& command, const std::string& why);

/// What was typed, read.
StoredStatesOptions stored_of(const StoredOptions& options);

}  // namespace headwave::cli
