#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "../../core/fields/field.h"
#include "../drawing/data_table.h"

namespace headwave {

/// The Fields of one analysis that share their axes, as one tidy table: a column for each axis and each Field, a row for
/// each combination of the axes' values, the last axis moving fastest. The Fields belong to the Result it was made of.
struct FieldTable {
  std::string name;                  ///< "measured_offset.pairs.layer.head": group and axes; a file's name
  std::vector<const Field*> fields;  ///< at least one

  [[nodiscard]] Index rows() const;  ///< 1 without axes
};

/// The Fields of a result as tables, in the order in which their first Fields stand.
/// @throws FormatError if the group or an axis has a name that no file should have; ShapeError if a Field has not as many
///         values as its axes say
std::vector<FieldTable> field_tables(const Result& result);

/// Writes a table as comma_separated() would, piece by piece: names of axes and quantities, then the rows. Flags are
/// written as their meanings.
/// @param write  is given some 64 kB at a time
void write_csv(const FieldTable& table, const std::function<void(std::string_view)>& write);

/// What the columns of tables are: file, column, whether it is an axis, its unit, what it means, and when a cell of it is
/// undefined. One row per column.
DataTable column_table(const std::vector<FieldTable>& tables);

}  // namespace headwave
