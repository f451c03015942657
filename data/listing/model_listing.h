#pragma once

#include <filesystem>

#include "listing.h"

namespace headwave {

/// A model directory as a Listing: facts of its config.json, which family it is taken for and why, all
/// tensors, parameters in total, tokenizer files. What config.json lacks, tensors that are missing, have the
/// wrong shape or are not read, and weights that cannot be read, become notes: a directory is worth looking
/// at before all of it is right.
/// @throws IoError, FormatError as Checkpoint, if there is no config.json either
Listing model_listing(const std::filesystem::path& folder);

}  // namespace headwave
