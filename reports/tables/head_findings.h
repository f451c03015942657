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

/// What was found about every head, layer by layer: its measures (core/fields/measures.h), by name, or by
/// Field if they have no name.
struct HeadValues {
  std::vector<HeadName> heads;
  std::map<std::string, std::vector<Cell>, std::less<>> cells;

  /// NaN if undefined or not in the result.
  [[nodiscard]] double number(std::size_t head, std::string_view measure) const;
  /// Empty if not in the result.
  [[nodiscard]] std::string word(std::size_t head, std::string_view measure) const;
  [[nodiscard]] bool says(std::size_t head, const Said& said) const { return word(head, said.measure) == said.word; }
  /// Whether some head has the measure.
  [[nodiscard]] bool any(std::string_view measure) const;
};

/// The measures of all heads; no heads if the result has neither measured nor predicted offsets.
///
/// `planted_found` says whether what was planted was found: an offset, if the measured one is at most half a
/// token away; no offset, if none was measured; the offset 0, if the status is `own token`.
/// @throws ShapeError if the Fields have other axes than described
HeadValues head_values(const Result& result);

/// The same as a table for programs, one row per head. Undefined numbers are NaN, missing words are empty.
/// docs/inspect-json.md describes the columns. Three columns about planted heads are there only if some were
/// planted. The last columns are Fields that ask for one, by name.
DataTable head_data(const Result& result, const HeadValues& values);

/// The columns of head_data() that every result has.
std::vector<std::string> head_data_columns();

/// The Fields that ask for a column of the table: one number per head, and the header as attribute "column".
std::vector<const Field*> asked_columns(const Result& result);

/// Names of the Fields that head_values() reads, so that no others need be read.
std::vector<std::string> head_value_fields();

}  // namespace headwave
