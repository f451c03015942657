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
  std::string layers;  ///< range of layers, "0-7"; empty: all layers
  std::string weights = "auto";
  std::string max_memory;  ///< limit, as for byte_size(); empty: the free memory of the machine
};

/// Adds --layers and --weights.
void add_place_options(CLI::App& command, PlaceOptions& options);

/// Combines --model, --map and the place options.
ModelPlace place_of(const std::filesystem::path& model, const std::filesystem::path& map, const PlaceOptions& options);

/// Options that say where a model and its documents come from, and which interventions change them.
struct InputOptions {
  std::filesystem::path model, map, text, target, ids, states, profiles;
  PlaceOptions place;
  PackingOptions packing;
  StoredStatesOptions stored;
  std::string axes;         ///< --axes of stored states, as typed
  Index random_tokens = 0;  ///< period of repeated random tokens; 0: other documents
  std::vector<std::string> interventions;
  InterventionOptions intervening;
};

/// Adds --model, --map, --layers, --weights, --text, --target, --ids, --states, --profiles, --random-tokens,
/// --intervene and the options that belong to these.
void add_input_options(CLI::App& command, InputOptions& options);

/// Refuses options that would have no effect.
/// @throws CLI::ValidationError naming the first such option
void require_usage(const CLI::App& command, const InputOptions& options);

/// Opens the input that the options name. Prints each remark about the input once to standard error.
/// @param seed  seed of random tokens and shuffled words
JobInput input_of(InputOptions& options, std::uint64_t seed);

/// Whether --text contains the text itself instead of a file's name: words with spaces between them, where no
/// file has this name, and there is neither a slash nor an ending such as .txt.
bool is_sentence(const std::filesystem::path& text);

/// Describes which rows of the position table were read: "rows 207 to 511 of the position table look as if
/// they were never trained (...); rows 0 to 206 are read (--rows 512 reads all)". Empty if all rows look
/// trained, or if not all trained rows were read.
/// @param provenance  the result's provenance, with the attributes of add_trained_rows()
///                    (job/run/provenance.h)
/// @param read        number of rows read
std::string rows_read_text(const Attributes& provenance, Index read);

/// Help text of --rows, for commands that read a position table and no documents.
constexpr const char* rows_help =
    "number of rows of the position table to read, from the first; 0: those that look trained";

/// Prints a remark to standard error, but each remark only once, since a command may open its input twice.
void say_once(const std::string& remark);

}  // namespace headwave::cli
