#pragma once

#include <string>
#include <vector>

#include "../../core/fields/field.h"
#include "../../core/fields/head_name.h"

namespace headwave {

/// Why a head looks where it looks: one sentence, and the same as cells of a table.
struct HeadSentence {
  HeadName name;
  double bits = 0;           ///< beyond uniform attention; NaN: the sentence is the account's
  double strength = 0;       ///< of its profile; NaN beside bits
  double offset = 0;         ///< where `looks` says, tokens; 0: at itself; NaN: no preference, or the end of the search
  std::string text = {};     ///< "L2H11 looks one token back ..."; empty: nothing can be said
  std::string looks = {};    ///< "1 back; special tokens"
  std::string why = {};      ///< "position 82, sink 13 %"
  std::string follows = {};  ///< "0.94"; "but 0.62" if that contradicts the parts; empty: no trial, or the account's
};

/// One sentence for each head, layer by layer, the same on the page, in the caption of a head drawn alone and, as cells,
/// in the table. It says what all of the head's attention is made of, and what experiments show (head_composition.h):
///
///     L1H8 looks 1 ahead: 5.63 bits beyond uniform attention (position 82, sink 13 %); when its strongest key and another
///     swap contents, 0.00 of the attention on the two goes with the content; when another token asks from there, its
///     strongest key keeps 0.85 of its weight; its keys moved by four tokens, 0.84 of its offset profile moves; without
///     positions in its keys the largest weight goes from 0.68 to 0.01 (random directions: 0.64)
///
/// Without attention_bits the sentence is that of the account of its profile over offsets: "L2H11 looks one token back
/// (strength 0.57): positional, 78 % of what can be explained", or "shows no preference beyond chance (strength 0.86; by
/// position 0.03, with places in random order 0.04)".
/// @returns nothing if the result has no such account
/// @throws ShapeError if the Fields have other axes than described
std::vector<HeadSentence> head_sentences(const Result& result);

/// Names of the Fields that the sentences use.
const std::vector<std::string>& head_sentence_fields();

}  // namespace headwave
