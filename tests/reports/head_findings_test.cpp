#include "../../reports/tables/head_findings.h"

#include <cmath>

#include "../catch.h"

using namespace headwave;

namespace {

Result measured(std::vector<double> offsets, std::vector<std::uint8_t> status) {
  const std::vector<Axis> axes{layer_axis(std::vector<Index>{3}), head_axis(static_cast<Index>(offsets.size()))};
  Result result;
  result.fields = {make_field("measured_offset/offset", axes, "token", "", std::move(offsets)),
                   {"measured_offset/status", axes, "1", "", std::move(status), {"offset", "self", "flat"}, {}}};
  return result;
}

}  // namespace

TEST_CASE("head findings: what the result does not say is NaN, empty or absent") {
  const auto heads = head_findings(measured({-2, not_defined}, {0, 2}));
  REQUIRE(heads.size() == 2);
  CHECK(heads[1].name == HeadName{3, 1});
  CHECK(heads[0].offset == -2);
  CHECK(std::isnan(heads[1].offset));
  CHECK(heads[1].status == "flat");
  CHECK(std::isnan(heads[0].weight));
  CHECK(std::isnan(heads[0].share));
  CHECK_FALSE(heads[0].cluster.has_value());
  CHECK_FALSE(heads[0].planted.has_value());
  CHECK(head_findings(Result{}).empty());
}

TEST_CASE("head findings: a planted head is found or it is not") {
  // measured, status, planted, found: by hand
  Result result = measured({-2, -2, not_defined, not_defined, not_defined, 5, not_defined}, {0, 0, 1, 2, 2, 0, 1});
  const std::vector<Axis> axes = result.fields.front().axes;
  result.fields.push_back({"planted/kind", axes, "1", "", std::vector<std::string>(7, "x"), {}, {}});
  result.fields.push_back(
      make_field("planted/offset", axes, "token", "", {-2.5, -2.6, 0, 0, not_defined, not_defined, 3}));
  const std::vector<bool> expected{true, false, true, false, true, false, false};
  const auto heads = head_findings(result);
  REQUIRE(heads.size() == expected.size());
  for (std::size_t i = 0; i < heads.size(); ++i) {
    CAPTURE(i);
    CHECK(heads[i].planted->found == expected[i]);
  }
}

TEST_CASE("head findings: what weights predict of other layers goes to the heads of that name") {
  Result result = measured({-2, 3}, {0, 0});
  const std::vector<Axis> axes{layer_axis(std::vector<Index>{0, 3, 5}), head_axis(2)};
  result.fields.push_back(make_field("position_atlas/predicted_weight", axes, "1", "", {0.1, 0.2, 0.3, 0.4, 0.5, 0.6}));
  result.fields.push_back(make_field("position_atlas/predicted_offset", axes, "token", "", {1, 2, 3, 4, 5, 6}));
  result.fields.push_back(
      {"position_atlas/status", axes, "1", "", std::vector<std::uint8_t>{0, 0, 1, 0, 0, 0}, {"offset", "weak"}, {}});
  const auto heads = head_findings(result);
  REQUIRE(heads.size() == 2);
  CHECK(heads[0].predicted_weight == 0.3);
  CHECK(heads[1].predicted_weight == 0.4);
  CHECK(heads[1].by_weights.offset == 4);
  CHECK(heads[0].by_weights.status == "weak");

  result.fields[1].axes = result.fields[0].axes = {layer_axis(std::vector<Index>{4}), head_axis(2)};
  CHECK(std::isnan(head_findings(result)[0].predicted_weight));
  CHECK(head_findings(result)[0].by_weights.status.empty());
}
