#pragma once

#include <filesystem>
#include <memory>

#include "headwave/core/model.h"
#include "headwave/core/source.h"
#include "headwave/data/stored_states.h"
#include "headwave/data/text_documents.h"

namespace headwave {

/// A model and the documents to run through it.
struct JobInput {
  Model model;
  std::unique_ptr<Source> source;
  Attributes provenance;  ///< of the model; the source knows its own
};

/// Text through the model's own tokenizer.
/// @throws Error as open_model, open_tokenizer and text_documents; ShapeError if documents are longer than the model's
/// positions
JobInput text_input(const std::filesystem::path& model_directory, const std::filesystem::path& text,
                    const PackingOptions& packing = {});

/// Token ids that are ready; the model's tokenizer, where it has one, only gives their text.
/// @throws Error as open_model and id_documents
JobInput ids_input(const std::filesystem::path& model_directory, const std::filesystem::path& ids,
                   const PackingOptions& packing = {});

/// Stored hidden states, or stored queries and keys.
/// @param model_directory  whose weights make queries and keys from the states; empty: weights or queries and keys lie
/// beside them
/// @throws Error as open_model and stored_states; ShapeError if the states do not have the model's width
JobInput states_input(const std::filesystem::path& states, const std::filesystem::path& model_directory,
                      const StoredStatesOptions& options = {});

}  // namespace headwave
