#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "../../core/fields/field.h"
#include "../../core/fields/field_reader.h"
#include "../../core/fields/head_name.h"

namespace headwave {

/// The parts into which the bits of a head's attention divide (docs/account.md).
constexpr std::array<const char*, 4> part_names{"sink", "position", "word", "match"};

/// Why a head looks where it looks, as one sentence and as cells of a table.
struct HeadSentence {
  HeadName name;
  double bits = not_defined;                     ///< bits beyond uniform attention; NaN: undefined
  std::array<double, part_names.size()> part{};  ///< bits of each part, in the order of part_names
  double offset = not_defined;  ///< first preferred offset, in tokens; NaN if position is less than a fifth of the bits
  std::string text = {};        ///< the sentence without its full stop; empty: the head is undefined
  std::string looks = {};       ///< "1 ahead; special tokens": the largest part, and another with a fifth of the bits
  std::string why = {};         ///< "position 82, sink 13 %": at most three parts, each a tenth of the bits or more
  std::string follows = {};     ///< "0.94"; "but 0.62" if an experiment contradicts the parts; empty: not measured
  std::string writes = {};      ///< "copies: curse, bill" (head_writes/...); empty: unknown
  double effect = not_defined;  ///< change without the head (head_effect/...): nats of loss, or share of the state
  bool matters = false;         ///< the effect exceeds both chance and the placebo
  bool idle = false;            ///< the loss changes by nearly 0; without a loss, the effect is at most the placebo's
  bool named = true;            ///< whether it is known what the largest part looks at
};

/// Makes one sentence for each head, layer by layer, with its cells in the table. The sentence says what the
/// head's attention is made of (attention_bits/...), and what experiments on the head show:
///
///     L1H8 looks 1 ahead: 5.63 bits beyond uniform attention (position 82, sink 13 %); when its strongest
///     key and another swap contents, 0.00 of the attention on the two goes with the content; with
///     another token in the query, its strongest key keeps 0.85 of its weight; its keys moved by four tokens,
///     0.91 of its offset profile follows; without positions in its keys the largest weight goes from 0.68 to
///     0.01 (random directions: 0.64)
///
/// If the result contains head_writes/..., the sentence continues "; it raises the logits of the words that
/// it attends to (copying +0.83 standard deviations) and raises most, on average over queries, the logits of
/// curse (+0.41), bill (+0.22)".
///
/// If it contains head_effect/..., the sentence ends "; without it the loss rises by 0.120 nats (+0.104 to
/// +0.136; a random change as large: +0.011)".
///
/// Two experiments are told only of heads with a fifth of their bits in position. Moved keys are told if the
/// interval of `moved` is at most 0.5 wide. The removal of a source is told if it leaves less weight than
/// every removal in a random direction. A head within close_to_uniform bits of uniform attention "is close to
/// uniform attention", and no parts are named.
///
/// A result that has no bits but has an account of profiles gives "L2H11 looks 1 back (position 78 %)".
/// @returns an empty list if the result has neither bits nor an account
/// @throws ShapeError if a Field lacks the axes that its analysis gives it
std::vector<HeadSentence> head_sentences(const Result& result);
constexpr double close_to_uniform = 0.05;  // bit

/// Largest expected share of false ones among the heads that matter (effect beyond chance and the placebo).
constexpr double matters_share = 0.05;
constexpr const char* model_loss_field = "head_effect/model_loss";

/// Summarises head_effect/...: "The model's loss is 1.23 nats a token (6.24 if all tokens were equally
/// likely). Heads that matter although ...". It gives the loss, lists the heads that matter although it is
/// unknown what their largest part looks at, and lists the heads in the top quarter of bits that hardly
/// matter. Empty if no head was taken away.
std::string effect_findings(const Result& result, const std::vector<HeadSentence>& heads);

/// Whether at least one head has bits, so that sentences say what these are made of.
bool is_composed(const std::vector<HeadSentence>& heads);

/// Names of the Fields that head_sentences() uses.
const std::vector<std::string>& head_sentence_fields();

/// Describes an offset: "1 back", "3 ahead", "at itself".
std::string tokens_away(double offset);

/// An offset with its sign: "-1", "0", "+3".
std::string signed_tokens(double offset);

/// Shares of the parts in all heads' bits: "special tokens 47 %, position 28 %, word 13 %, match 12 %".
std::string all_parts_text(const Result& result, const std::vector<HeadSentence>& heads);

/// Counts heads by largest part: "Heads by their largest part: sink in 35, position in 21; 3 close to
/// uniform."
std::string largest_parts_sentence(const std::vector<HeadSentence>& heads);

/// The largest part of every head, or "close to uniform", as a Field looks/part (layer, head).
/// @returns nothing if the result has no attention_bits
std::optional<Field> largest_part_field(const Result& result);

}  // namespace headwave
