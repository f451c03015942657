#include <algorithm>
#include <cmath>

#include "../../reports/tables/head_findings.h"
#include "../catch.h"
#include "sample_result.h"

using namespace headwave;

namespace {

Cell cell_of(const DataTable& table, std::size_t row, const std::string& column) {
  const auto found = std::ranges::find(table.columns(), column);
  REQUIRE(found != table.columns().end());
  return table.rows().at(row).at(static_cast<std::size_t>(found - table.columns().begin()));
}

}  // namespace

TEST_CASE("head values: a row per head, with what was found in columns of one kind") {
  Result result = sample::result();
  Field asked = result.at("head_account/strength");
  asked.name = "mine/share";
  asked.attributes["column"] = std::string("mine");
  result.fields.push_back(asked);
  const std::vector<HeadFinding> findings = head_findings(result);
  const DataTable table = head_values(result, findings);
  REQUIRE(table.rows().size() == findings.size());
  for (std::size_t row = 0; row < findings.size(); ++row) {
    const HeadFinding& head = findings[row];
    CHECK(std::get<std::string>(cell_of(table, row, "head")) == head_name(head.name.layer, head.name.head));
    CHECK(std::get<std::string>(cell_of(table, row, "status")) == head.status);
    const double offset = std::get<double>(cell_of(table, row, "offset"));
    CHECK((std::isnan(offset) ? std::isnan(head.offset) : offset == head.offset));
    CHECK(std::get<double>(cell_of(table, row, "weight")) == head.weight);
    CHECK(std::get<double>(cell_of(table, row, "mine/share")) == head.strength);
  }
}

TEST_CASE("head values: what was planted has columns only where something was") {
  HeadFinding head;
  head.offset = std::nan("");
  const DataTable alone = head_values({}, {head});
  CHECK(std::ranges::find(alone.columns(), "planted_kind") == alone.columns().end());
  CHECK(std::isnan(std::get<double>(cell_of(alone, 0, "cluster"))));
  HeadFinding planted = head;
  planted.cluster = 3;
  planted.planted = PlantedFinding{"sink", std::nan(""), true};
  const DataTable table = head_values({}, {head, planted});
  CHECK(std::get<std::string>(cell_of(table, 0, "planted_kind")).empty());
  CHECK(std::get<std::string>(cell_of(table, 1, "planted_kind")) == "sink");
  CHECK(std::get<std::string>(cell_of(table, 1, "planted_found")) == "true");
  CHECK(std::get<Index>(cell_of(table, 1, "cluster")) == 3);
}
