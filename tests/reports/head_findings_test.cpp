#include "../../reports/tables/head_findings.h"

#include <algorithm>
#include <cmath>

#include "../catch.h"

using namespace headwave;

namespace {

Result measured(std::vector<double> offsets, std::vector<std::uint8_t> status) {
  const std::vector<Axis> axes{layer_axis(std::vector<Index>{3}), head_axis(static_cast<Index>(offsets.size()))};
  Result result;
  result.fields = {make_field("measured_offset/offset", axes, "token", "", std::move(offsets)),
                   {"measured_offset/status", axes, "1", "", std::move(status), {"offset", "own token", "flat"}, {}}};
  return result;
}

}  // namespace

TEST_CASE("head findings: what the result does not say is NaN, empty or absent") {
  const HeadValues values = head_values(measured({-2, not_defined}, {0, 2}));
  REQUIRE(values.heads.size() == 2);
  CHECK(values.heads[1] == HeadName{3, 1});
  CHECK(values.number(0, "offset") == -2);
  CHECK(std::isnan(values.number(1, "offset")));
  CHECK(values.word(1, "status") == "flat");
  CHECK(std::isnan(values.number(0, "weight")));
  CHECK(std::isnan(values.number(0, "cluster")));
  CHECK(values.word(0, "planted_found").empty());
  CHECK(head_values(Result{}).heads.empty());
}

TEST_CASE("head findings: a planted head is found or it is not") {
  // measured, status, planted, found: by hand
  Result result = measured({-2, -2, not_defined, not_defined, not_defined, 5, not_defined}, {0, 0, 1, 2, 2, 0, 1});
  const std::vector<Axis> axes = result.fields.front().axes;
  result.fields.push_back({"planted/kind", axes, "1", "", std::vector<std::string>(7, "x"), {}, {}});
  result.fields.push_back(
      make_field("planted/offset", axes, "token", "", {-2.5, -2.6, 0, 0, not_defined, not_defined, 3}));
  const std::vector<bool> expected{true, false, true, false, true, false, false};
  const HeadValues values = head_values(result);
  for (std::size_t i = 0; i < expected.size(); ++i) {
    CAPTURE(i);
    CHECK(values.word(i, "planted_found") == (expected[i] ? "true" : "false"));
  }
}

TEST_CASE("head findings: what weights predict of other layers goes to the heads of that name") {
  Result result = measured({-2, 3}, {0, 0});
  const std::vector<Axis> axes{layer_axis(std::vector<Index>{0, 3, 5}), head_axis(2)};
  result.fields.push_back(make_field("position_atlas/predicted_weight", axes, "1", "", {0.1, 0.2, 0.3, 0.4, 0.5, 0.6}));
  result.fields.push_back(make_field("position_atlas/predicted_offset", axes, "token", "", {1, 2, 3, 4, 5, 6}));
  result.fields.push_back(
      {"position_atlas/status", axes, "1", "", std::vector<std::uint8_t>{0, 0, 1, 0, 0, 0}, {"offset", "weak"}, {}});
  const HeadValues values = head_values(result);
  REQUIRE(values.heads.size() == 2);
  CHECK(values.number(0, "predicted_weight") == 0.3);
  CHECK(values.number(1, "predicted_weight") == 0.4);
  CHECK(values.number(1, "predicted_offset") == 4);
  CHECK(values.word(0, "predicted_status") == "weak");

  result.fields[1].axes = result.fields[0].axes = {layer_axis(std::vector<Index>{4}), head_axis(2)};
  CHECK(std::isnan(head_values(result).number(0, "predicted_weight")));
  CHECK(head_values(result).word(0, "predicted_status").empty());
}

TEST_CASE("head findings: by phases means the rotary wave where there is one") {
  Result result = measured({-2, 3}, {0, 0});
  const std::vector<Axis> axes = result.fields.front().axes;
  result.fields.push_back(make_field("phase_delay/predicted_offset", axes, "token", "", {-1.5, 2.5}));
  CHECK(head_values(result).number(0, "offset_by_phases") == -1.5);
  result.fields.push_back(make_field("rotary_wave/predicted_offset", axes, "token", "", {not_defined, 4}));
  CHECK(std::isnan(head_values(result).number(0, "offset_by_phases")));
  CHECK(head_values(result).number(1, "offset_by_phases") == 4);
}

TEST_CASE("head findings: a table for programs has a row per head, and columns of what was planted and asked for") {
  Result result = measured({-2, 3}, {0, 0});
  const std::vector<Axis> axes = result.fields.front().axes;
  const auto cell = [&](const char* column, std::size_t row) {
    const DataTable table = head_data(result, head_values(result));
    const auto found = std::ranges::find(table, column, &DataColumn::name);
    REQUIRE(found != table.end());
    REQUIRE(found->cells.size() == 2);
    return found->cells[row];
  };
  const auto has = [&](const char* column) {
    return std::ranges::count(head_data(result, head_values(result)), column, &DataColumn::name) > 0;
  };
  CHECK(std::get<std::string>(cell("head", 1)) == "L3H1");
  CHECK(std::get<double>(cell("offset", 1)) == 3);
  CHECK_FALSE(has("planted_kind"));
  const Axis clusters{"cluster", "1", "", std::vector<std::int64_t>{4, 7}};
  result.fields.push_back(make_field("head_cluster/share", {axes[0], axes[1], clusters}, "1", "", {0, 0, 0.25, 0.75}));
  result.fields.push_back({"planted/kind", axes, "1", "", std::vector<std::string>{"", "sink"}, {}, {}});
  result.fields.push_back(make_field("planted/offset", axes, "token", "", {not_defined, not_defined}));
  result.fields.push_back(make_field("mine/share", axes, "1", "", {0.5, 0.6}));
  result.fields.back().attributes["column"] = std::string("mine");
  CHECK(std::get<std::string>(cell("planted_kind", 0)).empty());
  CHECK(std::get<std::string>(cell("planted_found", 1)) == "false");
  CHECK(std::isnan(std::get<double>(cell("cluster", 0))));
  CHECK(std::get<Index>(cell("cluster", 1)) == 7);
  CHECK(std::get<double>(cell("mine/share", 1)) == 0.6);
}
