#pragma once

#include <vector>

#include "../../analysis/why/head_account.h"
#include "../../analysis/why/position_atlas.h"
#include "../../data/models/model_directory.h"
#include "../inputs/job_input.h"
#include "../run/job.h"

namespace headwave {

/// Predicts where heads look in any text, from documents of random words: the measured profile of
/// head_account(). Random words have no order, so the profile comes from positions and from tokens that meet
/// themselves, without the order of words in a text. It is exact in every layer, while the prediction
/// from weights alone is a proxy above layer 0. An offset is predicted if the maximum does not lie at the end
/// of the search and its weight is at least twice that of uniform attention. Below that, attention is nearly
/// the same everywhere and need not land there. Rank heads by the weight at the maximum.
///
/// Source: this project.
/// @param account  of documents of random words (core/model/random_documents.h)
/// @returns Fields word_atlas/...
std::vector<Field> word_atlas(const HeadAccount& account);

struct WordPassesOptions {
  Index reach = 64;  ///< offsets |t| <= reach are searched, in tokens
  int threads = 0;   ///< 0: one per core; does not change results
};

/// Runs documents of random words through a model and predicts the offset of every head with word_atlas().
/// With documents of a text, this would be an account of the text rather than a prediction.
/// @returns word_atlas/... for each kind of attention within a sequence, with the provenance of the documents
/// @throws Error as the source and the model pass do; ShapeError if documents have fewer than 3 tokens
std::vector<KindResult> word_passes(const JobInput& input, const WordPassesOptions& options = {},
                                    const ProgressCallback& progress = {});

struct ModelAtlasOptions {
  PositionAtlasOptions atlas;  ///< length: number of positions, at most `rows`; 0: all of these
  Index rows = 0;              ///< first rows of the position table; 0: those that were trained (layer_positions.h)
  WordInputOptions words;      ///< documents: 0 for the weights alone; length and seed come from `atlas`; length 0: as
                               ///< many tokens as rows are read, at most 512
};

/// The atlas of a checkpoint as a result of its own, without a text: where every head would look, from the
/// weights alone (position_atlas/..., exact in layer 0, a proxy above it), and from a few documents of random
/// words that pass through the model (word_atlas/..., in every layer). A partial checkpoint gives the weights
/// of the layers that it has. The provenance says what is missing (`missing`) and why nothing passed
/// (`no_passes`). Rows of the position table that were never trained are left out unless `rows` asks for
/// them; the provenance says how many were trained (`trained_rows`) if some were not.
/// @returns one result, or those of encoder and decoder; cross-attention has no positions in common
/// @throws Error as open_partial_model, position_atlas, word_input and word_passes; ShapeError also if
///         `length` or `rows` is 1 or exceeds the position table
std::vector<KindResult> model_atlas(const ModelPlace& place, const ModelAtlasOptions& options = {},
                                    const ProgressCallback& progress = {});

}  // namespace headwave
