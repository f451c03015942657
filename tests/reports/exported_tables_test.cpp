#include "../../reports/tables/exported_tables.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "../../core/errors/error.h"
#include "../catch.h"
#include "sample_result.h"

using namespace headwave;

namespace {

Result two_groups() {
  const Axis layer = layer_axis(2), token{"token", "1", "of the text", std::vector<std::string>{"a", "b", "c"}};
  Result result;
  result.fields.push_back(make_field("near/by_layer", {layer}, "token", "how far", {1, 2.5}));
  result.fields.push_back(make_field("far/weight", {layer, token}, "1", "how much", {1, 2, 3, 4, 5, 6}));
  return result;
}

std::vector<std::string> names_of(const DataTable& table) {
  std::vector<std::string> names;
  for (const DataColumn& column : table) names.push_back(column.name);
  return names;
}

}  // namespace

TEST_CASE("exported tables: groups that are asked for, and tables that are short enough") {
  using Files = std::vector<std::filesystem::path>;
  const Result result = two_groups();
  const auto files = [&](const std::vector<std::string>& groups, std::optional<Index> most) {
    return ExportedTables(result, groups, most, "r.h5").files();
  };
  CHECK_THROWS_WITH(files({"faar"}, {}), "r.h5: there is no group 'faar'; did you mean 'far'?");
  CHECK(files({}, 6) == Files{"all-columns.csv", "near.layer.csv", "far.layer.token.csv"});
  CHECK(files({}, 5) == Files{"all-columns.csv", "near.layer.csv"});
  CHECK(ExportedTables(result, {}, 5, "r.h5").left_out() == std::vector<std::string>{"far.layer.token"});
  CHECK(files({"far"}, {}) == Files{"all-columns.csv", "far.layer.token.csv"});
}

TEST_CASE("exported tables: a row for each head, with the ends of intervals") {
  const Axis layer = layer_axis(1), head = head_axis(2),
             cause{"cause", "1", "why", std::vector<std::string>{"position", "own token", "context"}};
  Result result;
  CHECK(head_rows(result).empty());
  result.fields.push_back(make_field("measured_offset/offset", {layer, head}, "token", "", {-1, 2}));
  for (const char* name : {"head_account/part", "head_account/part_lower", "head_account/part_upper"})
    result.fields.push_back(make_field(name, {cause, layer, head}, "1", "", {0.5, 0.6, 0.1, 0.1, 0.7, 0.8}));
  for (const char* name : {"phase_delay/predicted_offset", "phase_delay/lower", "phase_delay/upper"})
    result.fields.push_back(make_field(name, {layer, head}, "token", "", {-1.5, 2.5}));
  std::get<std::vector<double>>(result.fields[2].values) = {0.4, 0.5, 0.0, 0.0, 0.6, 0.7};
  const DataTable heads = head_rows(result);
  REQUIRE(heads.front().cells.size() == 2);
  const auto cell = [&](const std::string& name, std::size_t row) {
    const auto column = std::ranges::find(heads, name, &DataColumn::name);
    REQUIRE(column != heads.end());
    return std::get<double>(column->cells[row]);
  };
  CHECK(heads[9].name == "head");
  CHECK(std::get<std::string>(heads[9].cells[1]) == "L0H1");
  CHECK(cell("offset", 1) == 2);
  CHECK(cell("by_position_low", 0) == 0.4);
  CHECK(cell("by_context_low", 1) == 0.7);
  CHECK(cell("by_context_high", 1) == 0.8);
  CHECK(cell("offset_by_phases_high", 1) == 2.5);
  CHECK(std::isnan(cell("bits_low", 0)));
  // Of two Fields of one measure the last that is there, with its own interval.
  for (const char* name : {"rotary_wave/predicted_offset", "rotary_wave/lower", "rotary_wave/upper"})
    result.fields.push_back(make_field(name, {layer, head}, "token", "", {-3, 4}));
  result.fields.push_back(make_field("rotary_wave/p_value", {layer, head}, "1", "", {0.01, 0.02}));
  const DataTable rotary = head_rows(result);
  CHECK(names_of(rotary) == names_of(heads));
  CHECK(comma_separated(rotary).find(",4,4,4,0.02,") != std::string::npos);
  CHECK(std::get<double>(std::ranges::find(rotary, "offset_by_phases", &DataColumn::name)->cells[1]) == 4);
}

TEST_CASE("exported tables: rows of heads are of the same columns, whatever was asked") {
  const std::vector<std::string> columns = names_of(head_rows(sample::result()));
  sample::Size size;
  size.bits = false;
  CHECK(names_of(head_rows(sample::result(size))) == columns);
  CHECK(names_of(head_rows(sample::rotary_result())) == columns);
  CHECK(std::set<std::string>(columns.begin(), columns.end()).size() == columns.size());
}

TEST_CASE("exported tables: rows name model and revision") {
  Result result;
  result.fields.push_back(make_field("measured_offset/offset", {layer_axis(1), head_axis(1)}, "token", "", {-1}));
  const auto named = [&](Attributes provenance) {
    result.provenance = std::move(provenance);
    const DataTable rows = head_rows(result);
    return std::get<std::string>(rows[0].cells[0]) + " " + std::get<std::string>(rows[1].cells[0]);
  };
  CHECK(named({{"model", std::string("/c/models--org--a-name/snapshots/0123/model.safetensors")}}) ==
        "org/a-name 0123");
  CHECK(named({{"model", std::string("/c/models--gpt2/snapshots/0123")}}) == "gpt2 0123");
  CHECK(named({{"model", std::string("/x/minilm")},
               {"model_sha256", std::string("aa  config.json\nbb  one.safetensors\ncc  two.safetensors")}}) ==
        "minilm sha256:bb");
  CHECK(named({{"model", std::string("org/a")}, {"model_revision", std::string("45")}}) == "a 45");
  CHECK(named({{"model", std::string("org/a")}, {"watched", std::string("headwave.watch")}}) == "org/a ");
  CHECK(named({}) == " ");
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
