#pragma once

#include <vector>

#include "../../core/fields/field.h"
#include "head_account.h"

namespace headwave {

/// Where heads look over random words, as a prediction for any text: the measured profile of head_account()
/// on documents of random words. Random words have no order, so the profile comes from positions and from
/// tokens that meet themselves. It is exact in every layer, where the prediction from weights alone is a
/// proxy above layer 0. The order of words in a text is not in it. An offset is predicted where the maximum
/// does not lie at the end of the search and its weight is at least twice what uniform attention
/// gives there: below it attention, being nearly the same everywhere, need not land there. Rank heads by that weight.
///
/// Source: this project.
/// @param account  of documents of random words (core/model/random_documents.h)
/// @returns Fields word_atlas/...
std::vector<Field> word_atlas(const HeadAccount& account);

}  // namespace headwave
