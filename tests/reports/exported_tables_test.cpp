#include "../../reports/tables/exported_tables.h"

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
  CHECK(table_files(tables) == std::vector<std::filesystem::path>{"all-columns.csv", "near.layer.csv"});
  keep_groups(result, {"far"}, "r.h5");
  REQUIRE(result.fields.size() == 1);
  CHECK(result.fields.front().name == "far/weight");
}

TEST_CASE("exported tables: files get their names all or none") {
  const std::filesystem::path folder = std::filesystem::temp_directory_path() / "headwave-exported-tables";
  std::filesystem::remove_all(folder);
  std::filesystem::create_directory(folder);
  const Result result = two_groups();
  const std::vector<FieldTable> tables = field_tables(result);
  const auto refused = [] { throw IoError("in the way"); };
  CHECK_THROWS_WITH(write_tables(tables, folder, refused), "in the way");
  CHECK(std::filesystem::is_empty(folder));
  write_tables(tables, folder);
  std::ostringstream text;
  text << std::ifstream(folder / "near.layer.csv").rdbuf();
  CHECK(text.str() == "layer,by_layer\n0,1\n1,2.5\n");
  for (const std::filesystem::path& name : table_files(tables)) CHECK(std::filesystem::exists(folder / name));
  std::filesystem::remove_all(folder);
}
