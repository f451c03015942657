#pragma once

#include <span>
#include <string>

namespace headwave {

/// A number or a word of every head. The table of heads, --sort, CSV, JSON, `compare` and Python read these rows. Of
/// two rows of one name the last whose Field is there counts.
struct Measure {
  const char* name;           ///< of the column in CSV, JSON and --sort; "": no column
  const char* field;          ///< its Field; "": computed from others
  const char* part = "";      ///< entry of the axis that the Field has beside layer and head
  const char* compared = "";  ///< what `compare` calls it; "": not compared
  bool word = false;          ///< a word, not a number

  /// The Fields of the ends of its interval: part_lower of part, lower of predicted_offset. They may be missing.
  [[nodiscard]] std::string end(const char* which) const;
};

/// In the order of columns, those without a column last.
std::span<const Measure> measures();

/// A kind of head, and the score that makes it.
struct KindScore {
  const char* kind;      ///< "previous": the meaning of head_types/kind
  const char* score;     ///< Field
  const char* baseline;  ///< Field of the score by chance; "": there is none
};
std::span<const KindScore> kind_scores();

}  // namespace headwave
