#include <algorithm>
#include <cmath>

#include "../../core/errors/error.h"
#include "../../reports/tables/exported_tables.h"
#include "../catch.h"
#include "sample_result.h"

using namespace headwave;

namespace {

std::string csv_of(const FieldTable& table) {
  std::string text;
  write_csv(table, [&](std::string_view piece) { text += piece; });
  return text;
}

Result result_of(std::vector<Field> fields) {
  Result result;
  result.fields = std::move(fields);
  return result;
}

}  // namespace

TEST_CASE("field tables: by hand") {
  const Axis layer = layer_axis(2), token{"token", "1", "of the text", std::vector<std::string>{"a,b", "=1+1"}};
  Field status{
      "sample/status", {layer, token}, "1", "what it is", std::vector<std::uint8_t>{0, 1, 1, 7}, {"self", "flat"}, {}};
  Field weight = make_field("sample/weight", {layer, token}, "1", "how much", {0.1, std::nan(""), -INFINITY, 2});
  weight.attributes["undefined"] = std::string("no token");
  const Field other = make_field("sample/by_layer", {layer}, "token", "how far", {1, 2.5});
  const Field alone = make_field("other/single", {}, "1", "one number", {std::nan("")});
  const Result result = result_of({status, other, weight, alone});
  const std::vector<FieldTable> tables = field_tables(result);
  REQUIRE(tables.size() == 3);
  CHECK(tables[0].name == "sample.layer.token");
  CHECK(csv_of(tables[0]) ==
        "layer,token,status,weight\n0,\"a,b\",self,0.1\n0,'=1+1,flat,\n1,\"a,b\",flat,-Inf\n1,'=1+1,7,2\n");
  CHECK(tables[1].name == "sample.layer");
  CHECK(csv_of(tables[1]) == "layer,by_layer\n0,1\n1,2.5\n");
  CHECK(tables[2].name == "other");
  CHECK(csv_of(tables[2]) == "single\n\"\"\n");
}

TEST_CASE("field tables: every number of a result stands in one table, however long") {
  const Result result = sample::result();
  Index numbers = 0, cells = 0;
  for (const Field& field : result.fields) numbers += field.size();
  for (const FieldTable& table : field_tables(result)) {
    const std::string text = csv_of(table);
    const auto lines = static_cast<Index>(std::count(text.begin(), text.end(), '\n'));
    CHECK(lines == 1 + table.rows());
    cells += table.rows() * static_cast<Index>(table.fields.size());
  }
  CHECK(cells == numbers);
}

TEST_CASE("field tables: names become names of files, without strange letters") {
  for (const auto& [name, file] : {std::pair("../up/x", ".."), {"a b/x", "a_b"}, {"a\n\xff/x", "a__"}})
    CHECK(field_tables(result_of({make_field(name, {}, "1", "", {1})})).front().name == file);
  const Axis axis{"a/b", "1", "", std::vector<double>{1}};
  CHECK(field_tables(result_of({make_field("group/x", {axis}, "1", "", {1})})).front().name == "group.a_b");
  Field wrong = make_field("group/x", {}, "1", "", {1});
  wrong.values = std::vector<double>{1, 2};
  CHECK_THROWS_WITH(field_tables(result_of({wrong})), ContainsSubstring("group/x: expected 1 values"));
}
