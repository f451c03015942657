#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "../../core/fields/field.h"
#include "../drawing/data_table.h"

namespace headwave {

/// The Fields of one analysis that share their axes, as one tidy table: a column for each axis and each
/// Field, and a row for each combination of axis values. The last axis varies fastest. The table points into
/// its Result.
struct FieldTable {
  std::string name;                  ///< "measured_offset.pairs.layer.head": analysis and axes; the file is NAME.csv
  std::vector<const Field*> fields;  ///< at least one

  [[nodiscard]] Index rows() const;  ///< 1 without axes
};

/// Groups the Fields of a result into tables, in the order of their first Fields.
/// @throws ShapeError if a Field's axes do not match its values, or Fields of one table differ in size
std::vector<FieldTable> field_tables(const Result& result);

/// Writes a table in the format of comma_separated(), piece by piece: a line with the names of axes and
/// quantities, then the rows. Flags are written as the words that they stand for.
/// @param write  receives about 64 kB at a time
void write_csv(const FieldTable& table, const std::function<void(std::string_view)>& write);

/// Makes a table with one row per head. Its columns are the same for every result, so that rows of several
/// models can be joined: model, text and program; the head; every measure (core/fields/measures.h). Some
/// measures also have an interval over documents (NAME_low, NAME_high) or a p value under the null (NAME_p).
/// Last come the Fields that ask for a column.
/// @returns an empty table if the result has neither measured nor predicted offsets of heads
/// @throws ShapeError if a Field lacks the axes that its analysis gives it
DataTable head_rows(const Result& result);

/// The file that describes the columns of all exported tables except heads.csv.
inline constexpr const char* columns_file = "all-columns.csv";

/// The tables of a result as files: all-columns.csv, which describes the columns of all tables of Fields;
/// heads.csv from head_rows(), unless analyses were chosen; and NAME.csv for every table of Fields.
class ExportedTables {
 public:
  /// @param result  must outlive this object
  /// @param groups  names of analyses, such as "measured_offset"; empty: all
  /// @param most    largest number of rows; longer tables are left out
  /// @param called  name of the result in messages
  /// @throws FormatError with the nearest name if the result lacks an analysis in `groups`; any Error that
  ///         field_tables() and head_rows() throw
  ExportedTables(const Result& result, const std::vector<std::string>& groups, std::optional<Index> most,
                 const std::string& called);

  [[nodiscard]] const std::vector<std::string>& left_out() const { return left_out_; }
  /// The names of the files, all-columns.csv first.
  [[nodiscard]] std::vector<std::filesystem::path> files() const;
  /// Writes the files. They get their names only when all of them are complete.
  /// @param folder  an existing folder
  /// @throws IoError if a file cannot be written
  void write(const std::filesystem::path& folder) const;

 private:
  DataTable heads_;
  std::vector<FieldTable> tables_;
  std::vector<std::string> left_out_;
};

}  // namespace headwave
