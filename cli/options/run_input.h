#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "../../job/inputs/intervention_text.h"
#include "../../job/inputs/job_input.h"
#include "../../job/run/job.h"
#include "cli11.h"
#include "place_options.h"
#include "stored_options.h"

namespace headwave::cli {

/// Where a model and its documents come from, and what is done to them.
struct InputOptions {
  std::filesystem::path model, map, text, target, ids, images, features, states;
  PlaceOptions place;
  PackingOptions packing;
  StoredOptions stored;
  Index random_tokens = 0;  ///< period of repeated random tokens; 0: none
  std::vector<std::string> interventions;
  InterventionOptions intervening;
};

/// The options whose meaning depends on where documents come from.
struct SourceOptions {
  CLI::Option *model, *map, *text, *target, *encoding, *ids, *images, *features, *states, *random, *documents, *length,
      *no_special_tokens, *allow_unknown, *shuffles;
  PlaceOptionsGiven place;
  StoredOptionsGiven stored;
};

/// Why a command has not all of these options; empty: it has.
struct InputWithout {
  std::string states = {}, interventions = {}, shuffles = {}, model = {}, images = {};
  bool layers = false;  ///< it has --layers of another meaning
};

/// Adds --model, --map, --layers, --weights, --text, --target, --ids, --images, --features, --states, --random-tokens, --intervene and what
/// belongs to them. Those that the command has not are refused with the reason, and stand in the result as options that
/// are never given.
SourceOptions add_input_options(CLI::App& command, InputOptions& options, const InputWithout& without = {});

/// Refuses options that would have no effect.
/// @throws CLI::ValidationError
void require_usage(const SourceOptions& given, const InputOptions& options);

/// Opens what the options name. Remarks on what came of it go to stderr, each once.
/// @param seed  of random tokens and shuffled words
JobInput input_of(InputOptions& options, const SourceOptions& given, std::uint64_t seed);

/// Refuses a text on the command line that is not in UTF-8.
/// @throws FormatError with the place of the first bad byte
void require_typed_text(const std::string& text);

}  // namespace headwave::cli
