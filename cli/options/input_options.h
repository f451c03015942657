#pragma once

#include <array>
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

/// How much of a model is opened, and where its weights are meanwhile.
struct PlaceOptions {
  std::string layers;  ///< "0-7"; empty: all
  std::string weights = "auto";
  std::string max_memory;  ///< as byte_size() takes it; empty: what the machine has free
};

/// The options --layers, or null, and --weights.
struct PlaceOptionsGiven {
  CLI::Option *layers, *weights;
};

/// Adds --weights, and --layers if asked.
PlaceOptionsGiven add_place_options(CLI::App& command, PlaceOptions& options, bool layers = true);

/// The model of --model and --map, as far as the options ask for it.
ModelPlace place_of(const std::filesystem::path& model, const std::filesystem::path& map, const PlaceOptions& options);

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

/// What one would want to know of an input that is read, and that is no error.
std::vector<std::string> remarks_on(const JobInput& input, const InputOptions& options, const SourceOptions& given);

/// Says so where the vocabulary cannot spell a typed text.
void say_unknown(const Document& document, const Tokenizer& tokenizer);

/// "rows 207 to 511 of the position table look as if they were never trained: ...", from what add_trained_rows()
/// (job/run/provenance.h) put there; empty where it put nothing.
std::string untrained_rows_text(const Attributes& provenance);

/// The same for a command that reads a position table: which rows it read. Empty also where it was asked for fewer than
/// were trained.
/// @param provenance  of its result
/// @param read        how many rows were read
std::string rows_read_text(const Attributes& provenance, Index read);

/// Of --rows, where a command reads a position table and no documents.
constexpr const char* rows_help =
    "how many rows of the position table are read, the first ones; 0: those that look trained";

/// Says a remark once: a command may open its input twice, to compare two runs over it.
void say_once(const std::string& remark);

}  // namespace headwave::cli
