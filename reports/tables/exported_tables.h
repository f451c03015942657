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

/// The Fields of one analysis that share their axes, as one tidy table: a column for each axis and each Field, a row for
/// each combination of the axes' values, the last axis moving fastest. The Fields belong to the Result it was made of.
struct FieldTable {
  std::string name;                  ///< "measured_offset.pairs.layer.head": group and axes; a file's name
  std::vector<const Field*> fields;  ///< at least one

  [[nodiscard]] Index rows() const;  ///< 1 without axes
};

/// The Fields of a result as tables, in the order in which their first Fields stand.
/// @throws ShapeError if a Field has not as many values as its axes say
std::vector<FieldTable> field_tables(const Result& result);

/// Writes a table as comma_separated() would, piece by piece: names of axes and quantities, then the rows. Flags are
/// written as their meanings.
/// @param write  is given some 64 kB at a time
void write_csv(const FieldTable& table, const std::function<void(std::string_view)>& write);

/// A row for each head, in columns that are the same for every result, so that rows of several models can be joined:
/// model, text and program; the head; every measure (core/fields/measures.h), its interval over documents as NAME_low
/// and NAME_high, and its p value under the null as NAME_p. Only Fields that ask for a column come after these.
/// @returns no columns if the result has no offsets of heads
/// @throws ShapeError if the Fields have other axes than described
DataTable head_rows(const Result& result);

/// The file that describes the columns of all exported tables.
inline constexpr const char* columns_file = "all-columns.csv";

/// The tables of a result, as files: all-columns.csv, which says what their columns are; heads.csv of head_rows(), unless
/// groups were chosen; and NAME.csv of every table.
class ExportedTables {
 public:
  /// @param result  must live as long
  /// @param groups  "measured_offset"; empty: all
  /// @param most    rows of a table; longer ones are left out
  /// @param called  the result in messages
  /// @throws FormatError with the nearest name if the result lacks a group; as field_tables() and head_rows()
  ExportedTables(const Result& result, const std::vector<std::string>& groups, std::optional<Index> most,
                 const std::string& called);

  [[nodiscard]] const std::vector<std::string>& left_out() const { return left_out_; }
  /// The names of the files, all-columns.csv first.
  [[nodiscard]] std::vector<std::filesystem::path> files() const;
  /// Writes the files, which get their names once all of them are whole.
  /// @param folder  that exists
  /// @throws IoError if the disk refuses
  void write(const std::filesystem::path& folder) const;

 private:
  DataTable heads_;
  std::vector<FieldTable> tables_;
  std::vector<std::string> left_out_;
};

}  // namespace headwave
