#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "../../core/fields/field.h"
#include "../../core/fields/head_name.h"
#include "../../core/fields/measures.h"
#include "../drawing/data_table.h"

namespace headwave {

/// The measures (core/fields/measures.h) of every head. Heads are listed layer by layer. Cells are found by
/// the name of a measure, or by the name of its Field if the measure has none.
struct HeadValues {
  std::vector<HeadName> heads;
  std::map<std::string, std::vector<Cell>, std::less<>> cells;

  /// The value of a measure for one head. NaN if it is undefined or not in the result.
  [[nodiscard]] double number(std::size_t head, std::string_view measure) const;
  /// The word that a measure gives for one head. Empty if it is not in the result.
  [[nodiscard]] std::string word(std::size_t head, std::string_view measure) const;
  [[nodiscard]] bool says(std::size_t head, const Said& said) const { return word(head, said.measure) == said.word; }
  /// Whether the measure is defined for at least one head.
  [[nodiscard]] bool any(std::string_view measure) const;
};

/// Collects the measures of all heads. The list of heads is empty if the result has neither measured nor
/// predicted offsets.
///
/// `planted_found` compares the measured offset with the planted one. An offset counts as found if the
/// measured offset is at most half a token away. If no offset was planted, none must have been measured. A
/// planted offset of 0 also counts as found if the status is `own token`.
/// @throws ShapeError if a Field lacks the axes that its analysis gives it
HeadValues head_values(const Result& result);

/// Makes a table for programs from the measures of all heads, one row per head. Undefined numbers are NaN,
/// and missing words are empty. docs/inspect-json.md describes the columns. Three columns about planted heads
/// appear only if heads were planted. Last come the asked_columns().
DataTable head_data(const Result& result, const HeadValues& values);

/// Names of the columns of head_data() that every result has.
std::vector<std::string> head_data_columns();

/// The Fields that ask for a column of their own in the table. Such a Field has one number per head, and its
/// attribute "column" is the header.
std::vector<const Field*> asked_columns(const Result& result);

/// Names of the Fields that head_values() uses, so that only these need be read from a file.
std::vector<std::string> head_value_fields();

}  // namespace headwave
