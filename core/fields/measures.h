#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "field_reader.h"
#include "head_name.h"

namespace headwave {

/// A number or a word for every head. The table of heads, --sort, CSV, JSON, `compare` and Python read these
/// rows. If two rows have the same name, the last one whose Field the result contains applies.
struct Measure {
  const char* name;           ///< column in CSV, JSON and --sort; "": no column
  const char* field;          ///< its Field; "": computed from others
  const char* part = "";      ///< entry on the Field's axis beside layer and head
  const char* compared = "";  ///< name in `compare`; "": not compared
  bool word = false;          ///< a word, not a number
  bool interval = false;      ///< rows of heads contain its interval over documents
  bool p_value = false;       ///< rows of heads contain its p value under the null, group/p_value

  /// The Field of one end of its interval, if there is one: part_lower for part, lower for predicted_offset.
  [[nodiscard]] std::string end(const char* which) const;
};

/// All measures in the order of columns; those without a column come last.
std::span<const Measure> measures();

/// A kind of head, and the score that decides it.
struct KindScore {
  const char* kind;      ///< a meaning of head_types/kind: "previous"
  const char* score;     ///< Field
  const char* baseline;  ///< Field of the score by chance; "": none
};
std::span<const KindScore> kind_scores();

/// Every head of a Field's grid, in the order of its rows.
std::vector<HeadName> heads_of(const FieldHeads& heads);

/// A Field's numbers or words (strings, or meanings of flags) for some heads, which need not be in the Field.
/// @param part  entry on the Field's axis beside layer and head
/// @returns NaN, or "", for heads that the Field lacks, and if the result lacks the Field
/// @throws ShapeError as head_doubles()
std::vector<double> numbers_of_heads(const Result& result, std::string_view field, std::string_view part,
                                     const std::vector<HeadName>& heads);
std::vector<std::string> words_of_heads(const Result& result, std::string_view field, std::string_view part,
                                        const std::vector<HeadName>& heads);

// Fields that several files read. A test of job finds every name "group/quantity" of the sources, and every
// word below, in a result of all analyses.
constexpr const char *measured_offset_field = "measured_offset/offset", *trace_field = "offset_trace/mean_weight",
                     *trace_length_field = "offset_trace/length", *bits_field = "attention_bits/bits",
                     *bits_part_field = "attention_bits/part", *account_verdict_field = "head_account/verdict",
                     *account_part_field = "head_account/part", *word_offset_field = "word_atlas/predicted_offset",
                     *word_weight_field = "word_atlas/predicted_weight", *word_chance_field = "word_atlas/chance",
                     *weights_offset_field = "position_atlas/predicted_offset";

/// A word of a measure in results that code depends on.
struct Said {
  const char *measure, *word;
};
namespace said {
constexpr Said at_own_token{"status", "own token"};
constexpr Said at_search_end{"status", "edge"};
constexpr Said no_kind{"kind", "other"};
constexpr Said undefined_kind{"kind", "undefined"};
constexpr Said no_preference{"profile", "no preference"};
constexpr Said undefined_profile{"profile", "undefined"};
constexpr Said undefined_agreement{"agrees", "undefined"};
constexpr Said predicted_at_end{"predicted_status", "edge"};
constexpr Said predicted_weak{"predicted_status", "weak"};
}  // namespace said

}  // namespace headwave
