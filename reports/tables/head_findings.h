#pragma once

#include <array>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "../../core/fields/field.h"
#include "../../core/fields/head_name.h"
#include "../drawing/data_table.h"

namespace headwave {

/// What was built into a head, and whether it was found.
struct PlantedFinding {
  std::string kind;    ///< "adjacent", "sink", ...
  double offset = 0;   ///< tokens; NaN: planted without one
  bool found = false;  ///< see head_findings()
};

/// An offset that is predicted for a head.
struct PredictedFinding {
  double offset = 0;   ///< tokens; NaN: undefined
  std::string status;  ///< "offset", "edge", "chance", "weak", "nothing"
};

/// The findings about one head. Missing numbers are NaN, missing texts empty.
struct HeadFinding {
  HeadName name;
  double offset = 0;             ///< tokens; NaN: undefined
  std::string status;            ///< "offset", "self", "flat", "edge"
  double weight = 0;             ///< largest mean attention weight
  double threshold = 0;          ///< what it had to exceed
  double chance = 0;             ///< what shuffled positions would give there
  std::optional<Index> cluster;  ///< the one that holds most of the head's documents
  double share = 0;              ///< share of its documents there; NaN without a cluster
  double beyond_reach = 0;       ///< share of its attention
  std::string kind;              ///< what head_types() calls it: "previous", "sink", "other", "undefined" of too few
                                 ///< documents; empty: not in the result
  double kind_score = 0;         ///< the score that makes the kind; NaN: no kind
  double kind_chance = 0;        ///< the same if all allowed keys had the same weight; NaN: not known
  double bits = 0;               ///< of its attention beyond uniform attention
  std::array<double, 4> part{};  ///< bit: sink, position, word, match
  double follow = 0;             ///< share of attention that goes with the content of swapped keys
  double kept = 0;               ///< share that its strongest key keeps when another token asks
  double moved = 0;              ///< share of its offset profile that moves with its keys
  std::string why;               ///< "positional", "self", "context", "mixed", "no preference", "undefined"
  double strength = 0;           ///< attention drawn to offsets beyond uniform attention: stands beside `why`
  double by_position = 0;        ///< part of what can be explained of the profile that positions give
  double by_self = 0;            ///< ... that tokens meeting themselves add
  double by_context = 0;         ///< ... that is left to context: the tokens around
  PredictedFinding by_account;   ///< where the profile that positions give is largest
  std::string agrees;            ///< whether that is where the head looks: "agrees", "differs", "unpredicted", ...
  PredictedFinding by_weights;   ///< what positions alone predict
  PredictedFinding by_words;     ///< what documents of random words predict
  PredictedFinding by_phases;    ///< what the rotation's phases predict, to parts of a token; or the rotary wave
  double predicted_weight = 0;   ///< of attention at what positions alone predict, 1: all of it
  double predicted_chance = 0;   ///< what a flat kernel would give there
  double words_weight = 0;       ///< of attention at what random words predict
  double words_chance = 0;       ///< what equal weights would give there
  double toeplitz_r2 = 0;        ///< share of the scores between positions that depends on the offset alone
  double other_r2 = 0;           ///< the same without what a position shares with itself: compared with chance
  double other_null = 0;         ///< the quantile of its null
  double q_value = 0;            ///< what decides: other_r2 against chance, all heads together
  std::optional<PlantedFinding> planted;
};

/// A kind of head, the score that makes it, and what the score is beside chance.
struct KindText {
  const char* kind;      ///< "previous": the meaning of head_types/kind
  const char* one;       ///< "previous-token head"
  const char* score;     ///< Field, with the least score as its remark "threshold"
  const char* baseline;  ///< Field of the score by chance; empty: there is none
  const char* of;        ///< "of attention on the token before"
};
const std::vector<KindText>& kind_texts();

/// What was found about each head, layer by layer; empty if the result has neither measured nor predicted offsets.
///
/// A planted offset is found if the measured one is at most half a token away; a head planted without an offset if none
/// was measured; one planted at 0 if the status is `self`, since a maximum at 0 is called that.
/// @throws ShapeError if the Fields have other axes than described
std::vector<HeadFinding> head_findings(const Result& result);

/// What was found about each head as numbers and words for programs, a row per head in the order given; undefined
/// numbers are NaN, absent words empty. docs/inspect-json.md says what the columns are. Three columns
/// about what was planted are there only if something was; the last are Fields that ask for a column, by name.
/// @throws ShapeError if such a Field is no number of layer and head
DataTable head_values(const Result& result, const std::vector<HeadFinding>& findings);

/// The columns of head_values() that every result has.
std::vector<std::string> head_value_names();

/// The Fields of one number per head that ask for a column: their remark "column" is its header.
std::vector<const Field*> asked_columns(const Result& result);

/// The group of the prediction by phases: "rotary_wave/" for rotary positions, else "phase_delay/".
std::string phases_group(const Result& result);

/// The predictions of offset_agreement/predicted that are undefined for every head: those that the model cannot have, and
/// those that found nothing.
/// @throws ShapeError if the Field has other axes than described
std::set<std::string> undefined_for_all(const Result& result);

/// Names of the Fields that head_findings() looks at, so that no more need be read.
const std::vector<std::string>& head_finding_fields();

}  // namespace headwave
