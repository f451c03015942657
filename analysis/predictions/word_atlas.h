#pragma once

#include <string>
#include <vector>

#include "../../core/fields/field.h"
#include "../statistics/predicted_status.h"
#include "head_account.h"

namespace headwave {

struct WordAtlasOptions {
  double least_times = 2;  ///< a prediction's weight is at least so many times chance: below it attention, being nearly
                           ///< the same everywhere, need not land there
};

/// Where every head would look, from a few documents of random words.
struct WordAtlas {
  AccountSite site;
  WordAtlasOptions options;
  Index documents = 0;
  Matrix profile;   ///< (rows, 2 reach + 1)  predicted mean weight at an offset; NaN: no pair, or masked
  Vector estimate;  ///< (rows)  where it is largest, tokens; NaN: at the end of the search
  Vector weight;    ///< (rows)  there
  Vector chance;    ///< (rows)  what equal weights for all allowed keys would give there
  Vector offset;    ///< (rows)  estimate where `status` says that it is one; NaN elsewhere
  std::vector<PredictedStatus> status;  ///< (rows)
};

/// What the scores of random words predict for any text: position and content of head_account(),
///
///     profile(t) = mean over i of softmax(S + c)_i,i+t                                          (1)
///
/// S from the mean queries and keys that really enter a layer, so it holds above layer 0 too, where the weights alone
/// are a proxy; c what equal words add at t = 0, and what a layer's mixing makes of neighbours. What a text adds, words
/// that follow each other, is not in it. An offset is predicted where the maximum does not lie at the end of the search
/// and its weight is at least `least_times` chance,
///
///     chance(t) = mean over i of 1 / (keys that i may look at)                                  (2)
///
/// Heads are to be ranked by that weight.
///
/// Source: this project.
/// @param account  of documents of random words (core/model/random_words.h)
WordAtlas word_atlas(const HeadAccount& account, const WordAtlasOptions& options = {});

/// (2) at one offset; NaN where no query has a pair.
double flat_weight(const AccountSite& site, Index offset);

/// Fields word_atlas/...
std::vector<Field> describe(const WordAtlas& atlas);

}  // namespace headwave
