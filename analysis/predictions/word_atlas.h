#pragma once

#include <vector>

#include "../../core/fields/field.h"
#include "../statistics/false_discovery.h"
#include "head_account.h"

namespace headwave {

struct WordAtlasOptions {
  double least_times = 2;  ///< a prediction's weight is at least so many times chance: below it attention, being nearly
                           ///< the same everywhere, need not land there
};

/// Predicted offsets of every head from a few documents of random words.
struct WordAtlas {
  AccountSite site;
  WordAtlasOptions options;
  Index documents = 0;
  Matrix profile;                       ///< (rows, 2 reach + 1)  mean weight at an offset; NaN: no pair, or masked
  Vector estimate;                      ///< (rows)  where it is largest, tokens; NaN: at the end of the search
  Vector weight;                        ///< (rows)  there
  Vector chance;                        ///< (rows)  what uniform attention gives there
  Vector offset;                        ///< (rows)  estimate where `status` says that it is one; NaN elsewhere
  std::vector<PredictedStatus> status;  ///< (rows)
};

/// Where heads look over random words, as a prediction for any text: the measured profile of head_account()
/// on documents of random words. Random words have no order, so the profile comes from positions and from
/// tokens that meet themselves. It is exact in every layer, where the prediction from weights alone is a
/// proxy above layer 0. The order of words in a text is not in it. An offset is predicted where the maximum
/// does not lie at the end of the search and its weight is at least `least_times` what uniform attention
/// gives there. Rank heads by that weight.
///
/// Source: this project.
/// @param account  of documents of random words (core/model/random_documents.h)
WordAtlas word_atlas(const HeadAccount& account, const WordAtlasOptions& options = {});

/// Fields word_atlas/...
std::vector<Field> describe(const WordAtlas& atlas);

}  // namespace headwave
