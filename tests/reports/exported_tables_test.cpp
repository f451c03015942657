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
  using Files = std::vector<std::filesystem::path>;
  const Result result = two_groups();
  const auto files = [&](const std::vector<std::string>& groups, std::optional<Index> most) {
    return ExportedTables(result, groups, most, "r.h5").files();
  };
  CHECK_THROWS_WITH(files({"faar"}, {}), "r.h5: it has no 'faar'; did you mean 'far'?");
  CHECK(files({}, 6) == Files{"all-columns.csv", "near.layer.csv", "far.layer.token.csv"});
  CHECK(files({}, 5) == Files{"all-columns.csv", "near.layer.csv"});
  CHECK(ExportedTables(result, {}, 5, "r.h5").left_out() == std::vector<std::string>{"far.layer.token"});
  CHECK(files({"far"}, {}) == Files{"all-columns.csv", "far.layer.token.csv"});
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

TEST_CASE("exported tables: files get their names all or none, and say what their columns are") {
  const std::filesystem::path folder = std::filesystem::temp_directory_path() / "headwave-exported-tables";
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder / "near.layer.csv");
  const Result result = two_groups();
  const ExportedTables tables(result, {}, {}, "r.h5");
  CHECK_THROWS_AS(tables.write(folder), IoError);
  std::filesystem::remove(folder / "near.layer.csv");
  CHECK(std::filesystem::is_empty(folder));
  tables.write(folder);
  const auto text = [&](const char* name) {
    std::ostringstream out;
    out << std::ifstream(folder / name).rdbuf();
    return out.str();
  };
  CHECK(text("near.layer.csv") == "layer,by_layer\n0,1\n1,2.5\n");
  CHECK(text("all-columns.csv") ==
        "file,column,is,unit,long_name,undefined\n"
        "near.layer.csv,layer,axis,1,\"layer, 0-based\",\"\"\n"
        "near.layer.csv,by_layer,value,token,how far,\"\"\n"
        "far.layer.token.csv,layer,axis,1,\"layer, 0-based\",\"\"\n"
        "far.layer.token.csv,token,axis,1,of the text,\"\"\n"
        "far.layer.token.csv,weight,value,1,how much,\"\"\n");
  std::filesystem::remove_all(folder);
}
