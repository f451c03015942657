#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "../../core/fields/field.h"
#include "../../core/fields/field_reader.h"
#include "../../core/fields/head_name.h"

namespace headwave {

/// The parts of the bits of a head's attention.
constexpr std::array<const char*, 4> part_names{"sink", "position", "word", "match"};

/// Why a head looks where it looks: one sentence, and the same as table cells.
struct HeadSentence {
  HeadName name;
  double bits = not_defined;                     ///< beyond uniform attention; NaN: undefined
  std::array<double, part_names.size()> part{};  ///< bit
  double offset = not_defined;  ///< tokens: the first place, if position gives a fifth of the bits; otherwise NaN
  std::string text = {};        ///< without a full stop; empty: nothing can be said
  std::string looks = {};       ///< "1 ahead; special tokens": the largest part, and another with a fifth of the bits
  std::string why = {};         ///< "position 82, sink 13 %": the three largest parts with a tenth or more
  std::string follows = {};     ///< "0.94", or "but 0.62" if it contradicts the parts; empty: no trial
  std::string writes = {};      ///< "copies: curse, bill" (head_writes/...); empty: unknown
  double effect = not_defined;  ///< of taking it away (head_effect/...): nats of loss, or share of the final state
  bool matters = false;         ///< the effect exceeds both chance and the placebo
  bool idle = false;            ///< the effect is close to 0; without a loss, no more than the placebo's
  bool named = true;            ///< something says what the largest part looks at
};

/// One sentence for each head, layer by layer; its cells are those of the table. It says what the head's
/// attention is made of (attention_bits/...), and what experiments show:
///
///     L1H8 looks 1 ahead: 5.63 bits beyond uniform attention (position 82, sink 13 %); when its strongest
///     key and another swap contents, 0.00 of the attention on the two goes with the content; when another
///     token asks from there, its strongest key keeps 0.85 of its weight; its keys moved by four tokens, 0.91
///     of its offset profile follows; without positions in its keys the largest weight goes from 0.68 to 0.01
///     (random directions: 0.64)
///
/// If it is known what heads write (head_writes/...): "; it raises the logits of the words that it attends to
/// (copying +0.83 standard deviations) and raises most, on average over queries, the logits of curse
/// (+0.41), bill (+0.22)".
///
/// If heads were taken away (head_effect/...): "; without it the loss rises by 0.120 nats (+0.104 to +0.136;
/// a random change as large: +0.011)".
///
/// If position gives a fifth of the bits, two experiments are added: moved keys, if their interval is at most
/// 0.5 wide; and a removed source, if it leaves less weight than any removal in a random direction.
/// A head within close_to_uniform bits of uniform attention "is close to uniform attention" and has no parts.
///
/// A result without bits that has an account of profiles gives "L2H11 looks 1 back (position 78 %)".
/// @returns nothing if the result has neither
/// @throws ShapeError if the Fields have other axes than described
std::vector<HeadSentence> head_sentences(const Result& result);
constexpr double close_to_uniform = 0.05;  // bit

/// Heads that matter have an effect beyond chance and the placebo; at most this share of them are false.
constexpr double matters_share = 0.05;
constexpr const char* model_loss_field = "head_effect/model_loss";

/// "The model's loss is 1.23 nats a token (6.24 if all tokens were equally likely). Heads that matter
/// although ...": the loss, the heads that matter although nothing names their largest part, and the heads in
/// the top quarter of bits that hardly matter. Empty if no head was taken away.
std::string effect_findings(const Result& result, const std::vector<HeadSentence>& heads);

/// Whether the sentences say what bits are made of: some head has bits.
bool is_composed(const std::vector<HeadSentence>& heads);

/// Names of the Fields that the sentences use.
const std::vector<std::string>& head_sentence_fields();

/// "1 back", "3 ahead", "at itself"
std::string tokens_away(double offset);

/// "-1", "0", "+3"
std::string signed_tokens(double offset);

/// "special tokens 47 %, position 28 %, word 13 %, match 12 %": the parts of the bits of all heads together.
std::string all_parts_text(const Result& result, const std::vector<HeadSentence>& heads);

/// "Heads by their largest part: sink in 35, position in 21; 3 close to uniform."
std::string largest_parts_sentence(const std::vector<HeadSentence>& heads);

/// The largest part of every head, or "close to uniform", as a Field looks/part of layer and head.
/// @returns nothing if the result has no attention_bits
std::optional<Field> largest_part_field(const Result& result);

}  // namespace headwave
