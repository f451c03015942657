#include "../../core/fields/head_name.h"
#include "../../reports/figures/kinds.h"
#include "../../reports/tables/head_findings.h"
#include "../../reports/tables/head_table.h"
#include "../catch.h"
#include "drawn_figure.h"
#include "sample_grid.h"

using namespace headwave;

TEST_CASE("grid offsets: the numbers beside the figure are the weights by offset and by place of the heads shown") {
  const auto rows = rows_of(grid_offset_figure().draw(sample::grid_result(), asking_for({"L0H0"})));
  REQUIRE(rows.front() == std::vector<std::string>{"layer", "head", "panel", "row", "column", "weight"});
  // 3 x 5 offsets within half the grid, 12 places, and 12 for each of two queries.
  CHECK(rows.size() == 1 + 15 + 12 + 24);
  int found = 0;
  for (const auto& row : rows) {
    if (row[2] == "by offset" && row[3] == "-1" && row[4] == "1") {
      CHECK(number(row[5]) == 0.8);
      ++found;
    }
    if (row[2] == "received" && row[3] == "2" && row[4] == "3") {
      CHECK(number(row[5]) == Approx(0.11));
      ++found;
    }
    if (row[2] == "from the middle" && row[3] == "1" && row[4] == "0") {
      CHECK(number(row[5]) == Approx(0.016));
      ++found;
    }
  }
  CHECK(found == 3);
  CHECK(rows_of(grid_offset_figure().draw(sample::grid_result(), asking_for({"L0H1", "L0H0"}))).size() == 1 + 2 * 51);
}

TEST_CASE("grid offsets: Fields that do not fit each other are refused in one line") {
  Result result = sample::grid_result();
  field_of(result, "grid_offset/received").axes[2] = counting_axis("row", "patch", "", 0, 1);
  field_of(result, "grid_offset/received").values = std::vector<double>(16, 0.0);
  CHECK_THROWS_WITH(grid_offset_figure().draw(result, {}), ContainsSubstring("on the axis 'row'"));
}

TEST_CASE("heads over patches are said in rows and columns, beside what an offset of tokens means there") {
  const Result result = sample::grid_result();
  const std::vector<HeadFinding> heads = head_findings(result);
  REQUIRE(heads.size() == 2);
  CHECK(heads[0].on_grid == "1 up, 1 right");
  CHECK(heads[1].on_grid == "undefined (flat)");
  const std::string table = head_answer(result, head_columns(result));
  CHECK(count_of(table, "on the grid") == 2);
  CHECK(count_of(table, "1 up, 1 right") == 1);
  CHECK(count_of(table, "offset +1 is the patch to the right") == 1);
  const DataTable values = head_values(result, head_findings(result));
  CHECK(values.columns().back() == "on_grid");
  Result other;
  CHECK(grid_note(other).empty());
}
