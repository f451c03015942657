#include "../../reports/tables/exported_tables.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "../../core/errors/error.h"
#include "../catch.h"

using namespace headwave;

namespace {

Result two_groups() {
  const Axis layer = layer_axis(2), token{"token", "1", "of the text", std::vector<std::string>{"a", "b", "c"}};
  Result result;
  result.fields.push_back(make_field("near/by_layer", {layer}, "token", "how far", {1, 2.5}));
  result.fields.push_back(make_field("far/weight", {layer, token}, "1", "how much", {1, 2, 3, 4, 5, 6}));
  return result;
}

}  // namespace

TEST_CASE("exported tables: groups that are asked for, and tables that are short enough") {
  Result result = two_groups();
  CHECK_THROWS_WITH(keep_groups(result, {"faar"}, "r.h5"), "r.h5: it has no 'faar'; did you mean 'far'?");
  keep_groups(result, {}, "r.h5");
  std::vector<FieldTable> tables = field_tables(result);
  CHECK(remove_long_tables(tables, 6).empty());
  CHECK(remove_long_tables(tables, 5) == std::vector<std::string>{"far.layer.token"});
  CHECK(table_files(tables, DataTable({})) == std::vector<std::filesystem::path>{"all-columns.csv", "near.layer.csv"});
  keep_groups(result, {"far"}, "r.h5");
  REQUIRE(result.fields.size() == 1);
  CHECK(result.fields.front().name == "far/weight");
}

TEST_CASE("exported tables: a row for each head, with the ends of intervals") {
  const Axis layer = layer_axis(1), head = head_axis(2),
             cause{"cause", "1", "why", std::vector<std::string>{"position", "self", "context"}};
  Result result;
  CHECK(head_rows(result).columns().empty());
  result.fields.push_back(make_field("measured_offset/offset", {layer, head}, "token", "", {-1, 2}));
  for (const char* name : {"head_account/part", "head_account/part_lower", "head_account/part_upper"})
    result.fields.push_back(make_field(name, {cause, layer, head}, "1", "", {0.5, 0.6, 0.1, 0.1, 0.7, 0.8}));
  for (const char* name : {"wave/estimate", "wave/lower", "wave/upper"})
    result.fields.push_back(make_field(name, {layer, head}, "token", "", {-1.5, 2.5}));
  result.fields.push_back(make_field("wave/share", {layer, head}, "1", "", {0.3, 0.4}));
  result.fields.push_back(make_field("wave/share_lower", {layer, head}, "1", "", {0.2, 0.3}));
  result.fields.push_back(make_field("wave/share_upper", {layer, head}, "1", "", {0.4, 0.5}));
  std::get<std::vector<double>>(result.fields[2].values) = {0.4, 0.5, 0.0, 0.0, 0.6, 0.7};
  const DataTable heads = head_rows(result);
  REQUIRE(heads.rows().size() == 2);
  const auto cell = [&](const std::string& name, std::size_t row) {
    const auto column = std::ranges::find(heads.columns(), name);
    REQUIRE(column != heads.columns().end());
    return std::get<double>(heads.rows()[row][static_cast<std::size_t>(column - heads.columns().begin())]);
  };
  CHECK(std::get<std::string>(heads.rows()[1][0]) == "L0H1");
  CHECK(cell("offset", 1) == 2);
  CHECK(cell("by_position_low", 0) == 0.4);
  CHECK(cell("by_context_low", 1) == 0.7);
  CHECK(cell("by_context_high", 1) == 0.8);
  CHECK(cell("wave/share", 1) == 0.4);
  CHECK(cell("wave/estimate_high", 1) == 2.5);
  CHECK(cell("wave/share_low", 1) == 0.3);
  CHECK(cell("wave/share_high", 0) == 0.4);
}

TEST_CASE("exported tables: files get their names all or none") {
  const std::filesystem::path folder = std::filesystem::temp_directory_path() / "headwave-exported-tables";
  std::filesystem::remove_all(folder);
  std::filesystem::create_directory(folder);
  const Result result = two_groups();
  const std::vector<FieldTable> tables = field_tables(result);
  DataTable heads({"head", "offset"});
  heads.add_row({"L0H0", -1.0});
  const auto refused = [] { throw IoError("in the way"); };
  CHECK_THROWS_WITH(write_tables(tables, heads, folder, refused), "in the way");
  CHECK(std::filesystem::is_empty(folder));
  write_tables(tables, heads, folder);
  std::ostringstream text;
  text << std::ifstream(folder / "near.layer.csv").rdbuf();
  CHECK(text.str() == "layer,by_layer\n0,1\n1,2.5\n");
  for (const std::filesystem::path& name : table_files(tables, heads)) CHECK(std::filesystem::exists(folder / name));
  std::filesystem::remove_all(folder);
}
