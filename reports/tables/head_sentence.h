#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "../../core/fields/field.h"
#include "../../core/fields/field_reader.h"
#include "../../core/fields/head_name.h"

namespace headwave {

/// Names of the parts that make up the bits of a head's attention.
constexpr std::array<const char*, 4> part_names{"sink", "position", "word", "match"};

/// Why a head looks where it looks: one sentence, and the same as cells of a table.
struct HeadSentence {
  HeadName name;
  double bits = not_defined;                     ///< beyond uniform attention; NaN: undefined
  std::array<double, part_names.size()> part{};  ///< bit
  double offset = not_defined;  ///< first place, if position gives a fifth of the bits, tokens; NaN: there is none
  std::string text = {};        ///< without a full stop; empty: nothing can be said
  std::string looks = {};  ///< "1 ahead; special tokens": the largest part, and another that gives a fifth of the bits
  std::string why = {};    ///< "position 82, sink 13 %": the three largest that give a tenth or more
  std::string follows = {};     ///< "0.94"; "but 0.62" if it contradicts the parts; empty: no trial
  std::string writes = {};      ///< "copies: curse, bill" (head_writes/...); empty: not known
  double effect = not_defined;  ///< of taking it away (head_effect/...): nats of loss, else share of the final state
  bool matters = false;         ///< the effect is beyond chance, and beyond the placebo's
  bool idle = false;            ///< the effect's interval is close to 0; without a loss, no more than the placebo's
  bool named = true;            ///< something says what its largest part looks at
};

/// One sentence for each head, layer by layer, the same on the page, in the caption of a head drawn alone and, as cells,
/// in the table. It says what all of the head's attention is made of (attention_bits/...), and what experiments show:
///
///     L1H8 looks 1 ahead: 5.63 bits beyond uniform attention (position 82, sink 13 %); when its strongest key and another
///     swap contents, 0.00 of the attention on the two goes with the content; when another token asks from there, its
///     strongest key keeps 0.85 of its weight; its keys moved by four tokens, 0.91 of its offset profile follows; without
///     positions in its keys the largest weight goes from 0.68 to 0.01 (random directions: 0.64)
///
/// Where it is known what heads write (head_writes/...), "; it raises the logits of the words that it attends to (copying
/// +0.83 standard deviations) and raises most, on average over queries, the logits of curse (+0.41), bill (+0.22)".
///
/// Where heads were taken away (head_effect/...), "; without it the loss rises by 0.120 nats (+0.104 to +0.136; a random
/// change as large: +0.011)".
///
/// What moved keys show is said of heads of which position gives a fifth of the bits, if its interval is at most 0.5 wide, and what
/// a source does if without it less is left than without as much in any random direction that was drawn. A head within close_to_uniform bits of
/// uniform attention "is close to uniform attention" and has no parts.
///
/// Of a result without bits that has the account of profiles: "L2H11 looks 1 back (position 78 %)".
/// @returns nothing if the result has neither
/// @throws ShapeError if the Fields have other axes than described
std::vector<HeadSentence> head_sentences(const Result& result);
constexpr double close_to_uniform = 0.05;  // bit

/// A head matters if its effect is beyond chance and beyond the placebo's, with at most this share of false ones.
constexpr double matters_share = 0.05;
constexpr const char* model_loss_field = "head_effect/model_loss";

/// "The model's loss is 1.23 nats a token (6.24 if all 512 tokens were equally likely). Heads that matter although ...": the
/// loss, heads that matter without an answer, and those of the largest quarter of bits that hardly matter; empty: no head was
/// taken away.
std::string effect_findings(const Result& result, const std::vector<HeadSentence>& heads);

/// Whether the sentences say what bits are made of.
bool is_composed(const std::vector<HeadSentence>& heads);

/// Names of the Fields that the sentences use.
const std::vector<std::string>& head_sentence_fields();

/// "1 back", "3 ahead", "at itself"
std::string tokens_away(double offset);

/// "-1", "0", "+3"
std::string signed_tokens(double offset);

/// "special tokens 47, position 28, word 13, match 12 %": what the bits of all heads together are made of.
std::string all_parts_text(const Result& result, const std::vector<HeadSentence>& heads);

/// "The largest part is sink in 35 heads, position in 21, ...".
std::string largest_parts_sentence(const std::vector<HeadSentence>& heads);

/// Which part is the largest, as a Field looks/part of layer and head: a part's name, or "close to uniform".
/// @returns nothing if the result has no attention_bits
std::optional<Field> largest_part_field(const Result& result);

}  // namespace headwave
