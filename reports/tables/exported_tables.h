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
/// Field, a row for each combination of axis values, the last axis varying fastest. It points into its Result.
struct FieldTable {
  std::string name;                  ///< "measured_offset.pairs.layer.head": group and axes; also a file's name
  std::vector<const Field*> fields;  ///< at least one

  [[nodiscard]] Index rows() const;  ///< 1 without axes
};

/// Groups the Fields of a result into tables, in the order of their first Fields.
/// @throws ShapeError if a Field's axes do not match its values, or Fields of one table differ in size
std::vector<FieldTable> field_tables(const Result& result);

/// Writes a table as comma_separated() would, piece by piece: names of axes and quantities, then the rows.
/// Flags are written as their meanings.
/// @param write  receives about 64 kB at a time
void write_csv(const FieldTable& table, const std::function<void(std::string_view)>& write);

/// One row per head, in the same columns for every result, so that rows of several models can be joined:
/// model, text and program; the head; every measure (core/fields/measures.h), its interval over documents as
/// NAME_low and NAME_high, and its p value under the null as NAME_p. Fields that ask for a column come last.
/// @returns no columns if the result has no offsets of heads
/// @throws ShapeError if the Fields have other axes than described
DataTable head_rows(const Result& result);

/// The file that describes the columns of all exported tables except heads.csv.
inline constexpr const char* columns_file = "all-columns.csv";

/// The tables of a result as files: all-columns.csv, which describes the columns of the Fields' tables;
/// heads.csv from head_rows(), unless groups were chosen; and NAME.csv for every table of Fields.
class ExportedTables {
 public:
  /// @param result  must outlive this object
  /// @param groups  analyses, such as "measured_offset"; empty: all
  /// @param most    largest number of rows; longer tables are left out
  /// @param called  name of the result in messages
  /// @throws FormatError with the nearest name if the result lacks a group; as field_tables(), head_rows()
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
