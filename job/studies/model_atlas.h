#pragma once

#include <vector>

#include "../../analysis/why/head_account.h"
#include "../../analysis/why/position_atlas.h"
#include "../../data/models/model_directory.h"
#include "../inputs/job_input.h"
#include "../run/job.h"

namespace headwave {

/// Predicts where heads look in any text from the profile that head_account() measured on documents of random
/// words. Random words have no order, so the profile comes from positions and from tokens that meet
/// themselves, not from the order of words in a text. The prediction is exact in every layer, while a
/// prediction from weights alone is a proxy above layer 0. An offset is predicted if the largest weight is
/// not at the end of the search and is at least twice that of uniform attention. A smaller largest weight
/// means that attention is nearly the same everywhere, and its maximum may be elsewhere in another text. Rank
/// heads by the largest weight.
///
/// Source: this project.
/// @param account  account of documents of random words (core/model/random_documents.h)
/// @returns Fields word_atlas/...
std::vector<Field> word_atlas(const HeadAccount& account);

struct WordPassesOptions {
  Index reach = 64;  ///< offsets |t| <= reach are searched, in tokens
  int threads = 0;   ///< 0: one per core; does not change results
};

/// Runs documents of random words through a model, and predicts the offset of every head with word_atlas().
/// Documents of a text would give an account of that text rather than a prediction.
/// @returns word_atlas/... for each kind of attention within a sequence, with the provenance of the documents
/// @throws ShapeError if documents have fewer than 3 tokens; any Error of the source or the model pass
std::vector<KindResult> word_passes(const JobInput& input, const WordPassesOptions& options = {},
                                    const ProgressCallback& progress = {});

struct ModelAtlasOptions {
  PositionAtlasOptions atlas;  ///< its length is the number of positions, at most `rows`; 0: all `rows` positions
  Index rows = 0;              ///< number of first rows of the position table; 0: those that were trained
  WordInputOptions words;      ///< its length and seed are taken from `atlas`; documents: 0 omits random words
};

/// Makes the atlas of a checkpoint: where every head would look, predicted without a text. One prediction is
/// from the weights alone (position_atlas/..., exact in layer 0, a proxy above it). The other is from a few
/// documents of random words that pass through the model (word_atlas/..., exact in every layer). A partial
/// checkpoint gives only the prediction from weights, for the layers that it has; the provenance then says
/// what is missing (`missing`) and why no document passed (`no_passes`). Rows of the position table that were
/// never trained are left out unless `rows` asks for them. If there are such rows, the provenance says how
/// many others were trained (`trained_rows`).
/// @returns one result, or one each for encoder and decoder; cross-attention is left out, because its queries
///          and keys have no positions in common
/// @throws ShapeError if `length` or `rows` is 1 or exceeds the position table; any Error that
///         open_partial_model(), position_atlas(), word_input() and word_passes() throw
std::vector<KindResult> model_atlas(const ModelPlace& place, const ModelAtlasOptions& options = {},
                                    const ProgressCallback& progress = {});

}  // namespace headwave
