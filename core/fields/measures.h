#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "field_reader.h"
#include "head_name.h"

namespace headwave {

/// Describes a column of the table of heads: one number or one word per head. The table, --sort, CSV, JSON,
/// `compare` and Python all use these descriptions. If two measures have the same name, the last of them
/// whose Field is in the result applies.
struct Measure {
  const char* name;           ///< name of the column in CSV, JSON and --sort; "": no column
  const char* field;          ///< name of its Field; "": computed from other Fields
  const char* part = "";      ///< coordinate to read on the Field's third axis; "": the axes are only layer and head
  const char* compared = "";  ///< name in `compare`; "": not compared
  bool word = false;          ///< whether the measure is a word, not a number
  bool interval = false;      ///< whether the table also has the measure's interval over documents
  bool p_value = false;       ///< whether the table also has its p value under the null, the Field group/p_value

  /// The name of the Field with one end of the measure's interval. The lower end of group/part is
  /// group/part_lower, but the lower end of group/predicted_offset is group/lower.
  [[nodiscard]] std::string end(const char* which) const;
};

/// All measures in the order of columns. Measures without a column come last.
std::span<const Measure> measures();

/// A kind of head, and the score that decides it.
struct KindScore {
  const char* kind;      ///< a meaning of the flags head_types/kind, for example "previous"
  const char* score;     ///< name of the Field of the score
  const char* baseline;  ///< name of the Field of the score by chance; "": there is none
};
std::span<const KindScore> kind_scores();

/// Every head of a Field, in the order of rows.
std::vector<HeadName> heads_of(const FieldHeads& heads);

/// The numbers of a Field, or its words (strings or meanings of flags), for the given heads.
/// @param part  coordinate to read on the Field's third axis
/// @returns one value per head: NaN or "" if the Field lacks the head, or the result lacks the Field
/// @throws ShapeError as head_doubles()
std::vector<double> numbers_of_heads(const Result& result, std::string_view field, std::string_view part,
                                     const std::vector<HeadName>& heads);
std::vector<std::string> words_of_heads(const Result& result, std::string_view field, std::string_view part,
                                        const std::vector<HeadName>& heads);

// Names of Fields that several source files use. A test (tests/job) checks that a result of all analyses
// contains every name "group/quantity" in the sources, and every word below.
constexpr const char *measured_offset_field = "measured_offset/offset", *trace_field = "offset_trace/mean_weight",
                     *trace_length_field = "offset_trace/length", *bits_field = "attention_bits/bits",
                     *bits_part_field = "attention_bits/part", *account_verdict_field = "head_account/verdict",
                     *account_part_field = "head_account/part", *word_offset_field = "word_atlas/predicted_offset",
                     *word_weight_field = "word_atlas/predicted_weight", *word_chance_field = "word_atlas/chance",
                     *weights_offset_field = "position_atlas/predicted_offset";

/// A word that code depends on, and the measure whose value it may be.
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
