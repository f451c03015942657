#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "../../core/fields/field.h"
#include "../../data/models/model_directory.h"
#include "../../data/sources/stored_states.h"
#include "../../data/tokens/tokenizer.h"
#include "../../job/inputs/intervention_text.h"
#include "../../job/inputs/job_input.h"
#include "../../job/run/job.h"
#include "cli11.h"

namespace headwave::cli {

/// How much of a model is opened, and where its weights are.
struct PlaceOptions {
  std::string layers;  ///< "0-7"; empty: all
  std::string weights = "auto";
  std::string max_memory;  ///< as for byte_size(); empty: what the machine has free
};

/// The options --layers and --weights.
struct PlaceOptionsGiven {
  CLI::Option *layers, *weights;
};

/// Adds --layers and --weights.
PlaceOptionsGiven add_place_options(CLI::App& command, PlaceOptions& options);

/// The model of --model and --map, with these options.
ModelPlace place_of(const std::filesystem::path& model, const std::filesystem::path& map, const PlaceOptions& options);

/// Facts about stored states that their file does not state.
struct StoredOptions {
  StoredStatesOptions states;
  std::string axes;  ///< of the dataset, as typed
};

struct StoredOptionsGiven {
  CLI::Option *head_count, *layer, *dataset, *axes, *apply_norm, *any_states;
};

/// Adds --head-count, --layer, --dataset, --axes, --apply-norm and --any-states.
StoredOptionsGiven add_stored_options(CLI::App& command, StoredOptions& options);

/// Reads the options as typed.
StoredStatesOptions stored_of(const StoredOptions& options);

/// Where a model and its documents come from, and which interventions change them.
struct InputOptions {
  std::filesystem::path model, map, text, target, ids, states;
  std::vector<std::filesystem::path> profiles;
  PlaceOptions place;
  PackingOptions packing;
  StoredOptions stored;
  Index random_tokens = 0;  ///< period of repeated random tokens; 0: none
  std::vector<std::string> interventions;
  InterventionOptions intervening;
};

/// The options whose meaning depends on where documents come from.
struct SourceOptions {
  CLI::Option *model, *map, *text, *target, *ids, *states, *profiles, *random, *documents, *length, *no_special_tokens,
      *allow_unknown, *intervene, *shuffles;
  PlaceOptionsGiven place;
  StoredOptionsGiven stored;
};

/// Adds --model, --map, --layers, --weights, --text, --target, --ids, --states,
/// --profiles, --random-tokens, --intervene and their companions.
SourceOptions add_input_options(CLI::App& command, InputOptions& options);

/// Refuses options that would have no effect.
/// @throws CLI::ValidationError
void require_usage(const SourceOptions& given, const InputOptions& options);

/// Opens the input that the options name, and prints remarks about it to stderr, each once.
/// @param seed  of random tokens and shuffled words
JobInput input_of(InputOptions& options, const SourceOptions& given, std::uint64_t seed);

/// Whether --text holds the text itself: words with spaces between, no file of that name, and nothing that looks like a
/// path or an ending such as .txt.
bool is_sentence(const std::filesystem::path& text);

/// Refuses a text on the command line that is not in UTF-8.
/// @throws FormatError with the place of the first bad byte
void require_typed_text(const std::string& text);

/// Facts about an input that a user should know and that are no error.
std::vector<std::string> remarks_on(const JobInput& input, const InputOptions& options, const SourceOptions& given);

/// "rows 207 to 511 of the position table look as if they were never trained: ...", from the attributes of
/// add_trained_rows() (job/run/provenance.h); empty without them.
std::string untrained_rows_text(const Attributes& provenance);

/// The same for a command that reads a position table, with the rows that it read; empty also if these are
/// all trained.
/// @param provenance  of its result
/// @param read        number of rows read
std::string rows_read_text(const Attributes& provenance, Index read);

/// Help of --rows, for commands that read a position table and no documents.
constexpr const char* rows_help = "first rows of the position table to read; 0: those that look trained";

/// Prints a remark once, even if a command opens its input twice to compare two runs.
void say_once(const std::string& remark);

}  // namespace headwave::cli
