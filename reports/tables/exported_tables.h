#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "../../core/fields/field.h"
#include "field_tables.h"

namespace headwave {

/// The file that describes the columns of all exported tables.
inline constexpr const char* columns_file = "all-columns.csv";

/// The file with a row for each head.
inline constexpr const char* heads_file = "heads.csv";

/// Everything that was found about each head, a row per head: the columns of head_data(), then the ends of intervals as
/// NAME_low and NAME_high, of numbers that are no column yet after the number.
/// @returns no columns if the result has no offsets of heads
/// @throws ShapeError if the Fields have other axes than described
DataTable head_rows(const Result& result);

/// Removes the Fields of all groups but some.
/// @param groups  "measured_offset"; empty: every Field stays
/// @param called  the result in messages
/// @throws FormatError with the nearest name if the result lacks a group
void keep_groups(Result& result, const std::vector<std::string>& groups, const std::string& called);

/// Removes the tables of more than `most` rows.
/// @returns their names
std::vector<std::string> remove_long_tables(std::vector<FieldTable>& tables, Index most);

/// The names of the files of exported tables: all-columns.csv first, heads.csv if it has columns, then NAME.csv of each table.
std::vector<std::filesystem::path> table_files(const std::vector<FieldTable>& tables, const DataTable& heads);

/// Writes tables as CSV, and all-columns.csv and heads.csv beside them. Files get their names once all of them are whole.
/// @param folder  that exists
/// @param before_named  called once all files are on the disk, before the first gets its name; may be empty
/// @throws IoError if the disk refuses
void write_tables(const std::vector<FieldTable>& tables, const DataTable& heads, const std::filesystem::path& folder,
                  const std::function<void()>& before_named = {});

}  // namespace headwave
