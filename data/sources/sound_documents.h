#pragma once

#include <filesystem>
#include <memory>
#include <optional>

#include "../../core/model/model.h"
#include "../../core/model/source.h"
#include "../tokens/tokenizer.h"

namespace headwave {

/// Sounds as a model's feature extractor made them ready, and what the model is to say of each: arrays of an HDF5, .npz or
/// safetensors file, or of a folder of .npy files,
///
///     input_features     (documents, bins, frames)   the log-mel spectrum; (bins, frames) is one document
///     decoder_input_ids  (documents, S)              what the decoder reads; below 0 at the end: padding, left off
///
/// A document's tokens are the encoder's positions, two frames each, "f0", "f2", ... by their first frame, with ids -1 - n
/// of position n; its target is the decoder's. Of the file no more is read than the document asked for.
/// @param model      that reads sound
/// @param tokenizer  for the target's text and for which of its tokens are special; may be null
/// @param documents  the first so many; none: as many as there are, up to usual_documents
/// @throws IoError, FormatError if there are no such arrays, they are of other shapes than the model's, hold no ids or
///         ids outside its vocabulary, or documents are fewer than asked for; of a document also where a number is NaN or
///         infinite
std::unique_ptr<Source> sound_documents(const std::filesystem::path& path, const Model& model,
                                        std::shared_ptr<const Tokenizer> tokenizer, std::optional<Index> documents);

}  // namespace headwave
