#pragma once

#include <string>
#include <vector>

#include "../../core/fields/field.h"
#include "../../core/fields/head_name.h"

namespace headwave {

/// Why a head looks where it looks: one sentence, and the same as cells of a table.
struct HeadSentence {
  HeadName name;
  double strength = 0;  ///< of its profile
  double offset = 0;    ///< where `looks` says, tokens; 0: at itself; NaN: no preference, or the end of the search
  bool tested = false;  ///< its keys were moved, or a source was taken out of them
  std::string text;     ///< "L2H11 looks one token back ..."; empty: no verdict and no evidence
  std::string looks;    ///< "1 back", "3 ahead, +1 to +6"; with the offsets that get half of the largest weight or more
  std::string why;      ///< "positional 94 %", "position 68, context 29 %"; empty: it has no preference
  std::string evidence;  ///< "32 of 32; positions: 0.80 -> 0.00"; empty: not tested
};

/// One sentence for each head, layer by layer, the same on the page, in the caption of a head drawn alone and, as cells,
/// in the table: where its profile is largest, in brackets the strength of the profile, the account's verdict with the part that it rests on, and what
/// happened when its keys were moved:
///
///     L2H11 looks one token back (strength 0.57): positional, 78 % of what can be explained; its keys moved
///     by up to two tokens, it follows in 32 of 32 trials
///
/// A head that chance explains, though its profile is not weak, "shows no preference beyond chance (strength 0.86; by
/// position 0.03, with places in random order 0.04)".
///
/// If the result has sources, the sentence ends: "; without positions in its keys the weight there goes from 0.68 to
/// 0.01". A trial is one document and one shift. A head follows if it does so in more than half of the trials. Where that
/// contradicts the verdict the sentence says so: a positional head that does not follow, or one that follows though it is
/// self, context or without preference.
/// @returns nothing if the result has no such account
/// @throws ShapeError if the Fields have other axes than described
std::vector<HeadSentence> head_sentences(const Result& result);

/// Names of the Fields that the sentences use.
const std::vector<std::string>& head_sentence_fields();

}  // namespace headwave
