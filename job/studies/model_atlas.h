#pragma once

#include <vector>

#include "../../analysis/predictions/position_atlas.h"
#include "../../data/models/model_directory.h"
#include "../inputs/job_input.h"
#include "../run/job.h"

namespace headwave {

struct WordPassesOptions {
  Index reach = 64;  ///< offsets |t| <= reach are looked at, in tokens
  int threads = 0;   ///< 0: one per core; changes no digit
};

/// Runs documents of random words through a model and predicts every head's offset from its queries and keys
/// (analysis/predictions/word_atlas.h). With documents of a text this would be an account of that text, not a
/// prediction.
/// @returns word_atlas/... for each kind of attention within a sequence, with the provenance of the documents
/// @throws Error as the source and the model pass do; ShapeError if documents have fewer than 3 tokens
std::vector<KindResult> word_passes(const JobInput& input, const WordPassesOptions& options = {},
                                    const ProgressCallback& progress = {});

struct ModelAtlasOptions {
  PositionAtlasOptions atlas;  ///< length: at most `rows` positions are looked at; 0: all of these
  Index rows = 0;          ///< of the position table, the first so many; 0: those that were trained (layer_positions.h)
  WordInputOptions words;  ///< documents: 0 for the weights alone; length and seed are the atlas', of length 0
                           ///< as many tokens as rows are read, 512 at most
};

/// The atlas of a checkpoint as a result of its own, without a text: where every head would look. From the
/// weights alone (position_atlas/..., exact in layer 0, a proxy above it), and from a few documents of random
/// words that pass through the model (word_atlas/..., in every layer). Of a partial checkpoint, the weights
/// of the layers that it has; what is missing is noted in the provenance (`missing`), and why nothing passed
/// (`no_passes`). Rows of the position table that were never trained are left out, unless `rows` asks for
/// them; the provenance says how many were trained (`trained_rows`) where others were not.
/// @returns one result, or those of the encoder and of the decoder; cross-attention has no positions in
///         common
/// @throws Error as open_partial_model, position_atlas, word_input and word_passes; ShapeError also if the
///         length is 1, or a head is not there
std::vector<KindResult> model_atlas(const ModelPlace& place, const ModelAtlasOptions& options = {},
                                    const ProgressCallback& progress = {});

}  // namespace headwave
