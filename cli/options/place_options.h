#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "../../data/models/model_directory.h"
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

}  // namespace headwave::cli
