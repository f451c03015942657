#pragma once

#include <memory>
#include <optional>

#include "../../core/model/model.h"
#include "../../core/model/source.h"
#include "../tokens/tokenizer.h"
#include "arrays_place.h"

namespace headwave {

/// Documents of images or sounds, as a model's own image processor or feature extractor prepared them. The
/// arrays are in an HDF5, .npz or safetensors file, in a folder of .npy files, or in memory:
///
///     pixel_values       (documents, channels, height, width)  of a model that reads images
///     input_features     (documents, bins, frames)             of a model that reads sound: the log-mel spectrum
///     decoder_input_ids  (documents, S)                        beside sounds: what the decoder reads. Trailing ids
///                                                              below 0 are padding, and removed
///     document_name      (documents)                           names of the documents; may be missing
///
/// The axis of documents may be missing where there is one document. An image's tokens are those that open
/// it, [CLS] and [DIST], then its patches row by row, named "r0c0", "r0c1", ...; row n of `signal` has the
/// pixels of patch n, channel by channel, row by row. A sound's tokens are the encoder's positions, two
/// frames each, named "f0", "f2", ... after their first frame; `signal` is (frames, bins). The id of patch or
/// position n is -1 - n, so that shuffled words are shuffled patches. A document's numbers are read when the
/// document is asked for.
///
/// @param model      that reads images or sound
/// @param tokenizer  for the text of a target, and for which of its tokens are special; may be null
/// @param documents  the first so many; none: all, up to usual_documents
/// @throws IoError, FormatError if an array is missing, has another shape than the model reads, holds ids
///         outside the model's vocabulary, or fewer documents than asked for; of a document also if a number
///         is NaN or infinite
std::unique_ptr<Source> feature_documents(const ArraysPlace& features, const Model& model,
                                          std::shared_ptr<const Tokenizer> tokenizer, std::optional<Index> documents);

}  // namespace headwave
