#pragma once

#include <filesystem>

#include "../../core/model/source.h"
#include "../../core/planted/planted.h"

namespace headwave {

/// Writes a planted model as an ordinary Hugging Face BERT directory that any tool can load: config.json,
/// model.safetensors, vocab.txt and tokenizer_config.json. Beside them are the truth (truth.json: kind and
/// offset of every head) and the documents (ids.json: one list of ids per document). All files are on the
/// disk before the first file gets its final name, so that a failure never leaves a model beside another
/// model's truth.
///
/// @throws ShapeError if heads x d_head is not d_model, as BERT's layout demands; IoError if a file cannot be
///         written
void write_planted_directory(const PlantedModel& planted, const Source& documents, const std::filesystem::path& folder);

}  // namespace headwave
