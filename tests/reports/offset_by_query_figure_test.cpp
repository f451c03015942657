#include <algorithm>
#include <string_view>

#include "../../reports/drawing/gnuplot.h"
#include "../../reports/figures/kinds.h"
#include "../../reports/figures/offset_by_query.h"
#include "../../reports/tables/head_findings.h"
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

TEST_CASE("bands: the axis gives every offset within the reach a unit, bins beyond more, and room between") {
  const OffsetBands bands = offset_bands(sample::result());
  const Index beyond = 3 * OffsetBands::bin_units;
  CHECK(std::ssize(bands.units) == 2 * beyond + 2 * OffsetBands::room + 9);
  const double start = static_cast<double>(beyond + OffsetBands::room);
  CHECK(bands.place(-4) == start + 0.5);
  CHECK(bands.place(4) == start + 8.5);
  CHECK(bands.place(5) == start + 9 + OffsetBands::room + 0.5 * OffsetBands::bin_units);
  CHECK(bands.place(-19) == Approx(0.05 * OffsetBands::bin_units));
  for (double t = -18; t <= 19; ++t) CHECK(bands.place(t) > bands.place(t - 1));
  CHECK(bands.edges().size() == 2);
  CHECK(bands.tics() == std::vector<double>{-16, -4, 0, 4, 16});
  auto tics_to = [part = OffsetBands(bands)](Index longest) mutable {
    part.bin_first.front() = -longest;
    part.bin_last.back() = longest;
    return part.tics();
  };
  CHECK(tics_to(12) == std::vector<double>{-8, -4, 0, 4, 8});
  CHECK(tics_to(7) == std::vector<double>{-7, 0, 7});  // 4 and 7 would touch
  CHECK(tics_to(4) == std::vector<double>{-4, 0, 4});
}

TEST_CASE("bands: the figure draws heads with peaks first, or those asked for, and says what lies beyond") {
  const Result result = sample::result();
  const OffsetBands bands = offset_bands(result);
  CHECK(bands.with_largest_peaks(3) == std::vector<std::string>{"L0H1", "L0H2", "L1H1"});
  REQUIRE(bands.peaks_of(1).size() == 1);
  CHECK(bands.peaks_of(1).front().offset == 12);
  CHECK(bands.peaks_of(1).front().source == "position");
  CHECK(bands.peaks_of(2).front().source == "other");
  CHECK(bands.peaks_of(0).empty());
  const std::string script = offset_by_query_figure().draw(result, {}).script();
  for (const char* words : {"L0H1", "L0H2", "30 % beyond 4", "60 %", "0–15", "query position"})
    CHECK(script.find(words) != std::string::npos);
  FigureOptions options;
  options.heads = {"L2H0"};
  const std::string one = offset_by_query_figure().draw(result, options).script();
  CHECK(one.find("L2H0") != std::string::npos);
  CHECK(one.find("L0H1") == std::string::npos);
}

TEST_CASE("bands: what does not belong together is refused") {
  Result result = sample::result();
  SECTION("bins with a gap") {
    std::get<std::vector<std::int64_t>>(field_of(result, "offset_by_query/bin_first").values)[1] = -8;
  }
  SECTION("no reach") {
    field_of(result, "offset_by_query/profile").attributes.clear();
  }
  SECTION("shares of other heads") {
    field_of(result, "offset_by_query/share_beyond") =
        make_field("offset_by_query/share_beyond", {layer_axis(1), head_axis(1)}, "1", "", {0.5});
  }
  CHECK_THROWS_AS(offset_by_query_figure().draw(result, {}), ShapeError);
}

TEST_CASE("the table says what lies beyond the reach where that is more than a tenth, and where it piles up") {
  Result result = sample::result();
  const auto columns = head_columns(result);
  const auto& names = cells_of(columns, "head");
  const auto& beyond = cells_of(columns, "beyond reach");
  for (std::size_t row = 0; row < names.size(); ++row) {
    const bool by_position = names[row].ends_with("H1"), other = names[row].ends_with("H2");
    CHECK(beyond[row] == (by_position ? "30 %, +12 by position" : other ? "30 %, +12" : ""));
  }
  field_of(result, "offset_by_query/peak_source") = make_field("offset_by_query/peak_source", {}, "1", "", {0.0});
  CHECK_THROWS_AS(head_columns(result), ShapeError);
  std::erase_if(result.fields, [](const Field& field) { return field.group() == "offset_by_query"; });
  for (const TableColumn& column : head_columns(result)) CHECK(column.header != "beyond reach");
}
