#include <algorithm>
#include <string_view>

#include "../../reports/tables/head_table.h"
#include "../catch.h"
#include "drawn_figure.h"
#include "sample_result.h"

using namespace headwave;

namespace {

const std::vector<std::string>& cells_of(const std::vector<TableColumn>& columns, std::string_view header) {
  const auto column =
      std::find_if(columns.begin(), columns.end(), [&](const TableColumn& one) { return one.header == header; });
  REQUIRE(column != columns.end());
  return column->cells;
}

}  // namespace

TEST_CASE("the table says what lies beyond the reach where that is more than a tenth") {
  Result result = sample::result();
  const auto columns = shown_columns(result, {.all = true, .wide = true});
  const auto& names = cells_of(columns, "head");
  const auto& beyond = cells_of(columns, "beyond reach");
  for (std::size_t row = 0; row < names.size(); ++row) {
    const bool far = names[row].ends_with("H1") || names[row].ends_with("H2");
    CHECK(beyond[row] == (far ? "30 %" : ""));
  }
  std::erase_if(result.fields, [](const Field& field) { return field.group() == "offset_by_query"; });
  for (const TableColumn& column : shown_columns(result, {.wide = true})) CHECK(column.header != "beyond reach");
}
