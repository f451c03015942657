#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "../../core/fields/field.h"
#include "../../core/fields/head_name.h"

namespace headwave {

/// What all of a head's attention is made of, in words: attention_bits/... of one head.
struct HeadComposition {
  HeadName name;
  double bits = 0;               ///< beyond uniform attention; NaN: undefined
  std::array<double, 4> part{};  ///< bit: sink, position, word, match
  double follow = 0;             ///< share of attention that goes with the content of swapped keys; NaN: no trial
  double kept = 0;               ///< share that remains when another token asks; NaN: no trial
  double moved = 0;              ///< share of the offset profile that goes with moved keys; NaN: not testable
  double offset = 0;             ///< first place, if position gives a fifth of the bits, tokens; NaN: there is none
  bool contradicted = false;     ///< swapped contents, or moved keys, show the opposite of what the parts say
  std::string looks;    ///< "1 ahead; special tokens": the largest part, and another that gives a fifth of the bits
  std::string why;      ///< "position 82, sink 13 %": the three largest that give a tenth or more
  std::string follows;  ///< "0.94"; "but 0.62" if contradicted; empty: no trial
  std::string text;     ///< the whole as a sentence, without a full stop
};

/// Layer by layer; a head within close_to_uniform bits of uniform attention "is close to uniform" and has no parts.
/// @returns nothing if the result has no attention_bits, or they are undefined for every head
/// @throws ShapeError if the Fields have other axes than described
std::vector<HeadComposition> head_compositions(const Result& result);
constexpr double close_to_uniform = 0.05;  // bit

/// "1 back", "3 ahead", "at itself"
std::string tokens_away(double offset);

/// "-1", "0", "+3"
std::string signed_tokens(double offset);

/// "special tokens 47, position 28, word 13, match 12 %": what the bits of all heads together are made of.
std::string all_parts_text(const Result& result, const std::vector<HeadComposition>& heads);

/// "The largest part is sink in 35 heads, position in 21, ...".
std::string largest_parts_sentence(const std::vector<HeadComposition>& heads);

/// Which part is the largest, as a Field looks/part of layer and head: a part's name, or "close to uniform".
/// @returns nothing if the result has no attention_bits
std::optional<Field> largest_part_field(const Result& result);

/// Names of the Fields that the compositions use.
const std::vector<std::string>& head_composition_fields();

/// Names of the parts: sink, position, word, match.
constexpr std::array<const char*, 4> part_names{"sink", "position", "word", "match"};

}  // namespace headwave
