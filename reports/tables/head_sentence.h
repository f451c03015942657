#pragma once

#include <string>
#include <vector>

#include "../../core/fields/field.h"
#include "../../core/fields/head_name.h"

namespace headwave {

/// Why one head looks where it looks, in words.
struct HeadSentence {
  HeadName name;
  double strength = 0;  ///< of its profile
  bool tested = false;  ///< something was seen when its keys were moved, or a source was taken out of them
  std::string text;     ///< "L2H11 looks one token back ..."; empty: neither a verdict nor evidence
};

/// One sentence for each head, layer by layer, the same in the table, on the page and in captions: where its
/// profile is largest, in brackets the strength of the profile, the account's verdict with the part that it
/// rests on, and what happened when its keys were moved:
///
///     L2H11 looks one token back (strength 0.57): positional, 78 % of what can be explained; its keys moved
///     by up to two tokens, it follows in 32 of 32 trials
///
/// Behind it, where the result has sources: "; without positions in its keys the weight there goes from 0.68 to 0.01".
/// A trial is one document and one shift. A head follows if it does so in more than half of the trials. Where
/// that contradicts the verdict the sentence says so: a positional head that does not follow, or one that
/// follows though it is self, order or without preference.
/// @returns none where the result has no such account
/// @throws ShapeError if the Fields have other axes than described
std::vector<HeadSentence> head_sentences(const Result& result);

/// Sentences for people who look at a few heads: of those that were tested, else of the strongest; the
/// strongest first.
/// @param most  how many where none was tested
std::vector<HeadSentence> telling_sentences(const Result& result, std::size_t most = 5);

/// Names of the Fields that sentences are made of.
const std::vector<std::string>& head_sentence_fields();

}  // namespace headwave
