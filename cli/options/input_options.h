#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "../../core/fields/field.h"
#include "../../data/models/model_directory.h"
#include "../../data/sources/stored_states.h"
#include "../../data/tokens/tokenizer.h"
#include "../../job/inputs/intervention_text.h"
#include "../../job/inputs/job_input.h"
#include "../../job/run/job.h"

namespace headwave::cli {

/// Which part of a model is opened, and where its weights are kept.
struct PlaceOptions {
  std::string layers;  ///< "0-7"; empty: all
  std::string weights = "auto";
  std::string max_memory;  ///< as for byte_size(); empty: the free memory of the machine
};

/// Adds --layers and --weights.
void add_place_options(CLI::App& command, PlaceOptions& options);

/// The model of --model and --map, with these options.
ModelPlace place_of(const std::filesystem::path& model, const std::filesystem::path& map, const PlaceOptions& options);

/// Where a model and its documents come from, and which interventions change them.
struct InputOptions {
  std::filesystem::path model, map, text, target, ids, states, profiles;
  PlaceOptions place;
  PackingOptions packing;
  StoredStatesOptions stored;
  std::string axes;         ///< --axes of stored states, as typed
  Index random_tokens = 0;  ///< period of repeated random tokens; 0: none
  std::vector<std::string> interventions;
  InterventionOptions intervening;
};

/// Adds --model, --map, --layers, --weights, --text, --target, --ids, --states,
/// --profiles, --random-tokens, --intervene and their companions.
void add_input_options(CLI::App& command, InputOptions& options);

/// Refuses options that would have no effect.
/// @throws CLI::ValidationError
void require_usage(const CLI::App& command, const InputOptions& options);

/// Opens the input that the options name, and prints each remark about it once to stderr.
/// @param seed  of random tokens and shuffled words
JobInput input_of(InputOptions& options, std::uint64_t seed);

/// Whether --text is the text itself: words with spaces between them, no file of that name, and neither a
/// slash nor an ending such as .txt.
bool is_sentence(const std::filesystem::path& text);

/// "rows 207 to 511 of the position table look as if they were never trained (...); rows 0 to 206 are read
/// (--rows 512 reads all)". Empty if the table has no such rows, or trained rows remain unread.
/// @param provenance  of the result, with the attributes of add_trained_rows() (job/run/provenance.h)
/// @param read        number of rows read
std::string rows_read_text(const Attributes& provenance, Index read);

/// Help of --rows, for commands that read a position table and no documents.
constexpr const char* rows_help =
    "number of rows of the position table to read, from the first; 0: those that look trained";

/// Prints a remark unless it was printed before: a command may open its input twice.
void say_once(const std::string& remark);

}  // namespace headwave::cli
