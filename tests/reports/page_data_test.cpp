#include "../../reports/page/page_data.h"

#include <cmath>
#include <limits>

#include "../../core/fields/fields.h"
#include "../../core/fields/head_name.h"
#include "../../data/files/packed_text.h"
#include "../../reports/tables/head_table.h"
#include "../catch.h"
#include "sample_result.h"

using namespace headwave;

namespace {

constexpr double undefined = std::numeric_limits<double>::quiet_NaN();

/// Two layers of one head, each with a profile of three offsets.
Result with(const std::string& name, std::vector<double> values, const std::string& last = "offset") {
  Result result;
  result.fields.push_back(make_field(name, {layer_axis(2), head_axis(1), counting_axis(last, "token", "", -1, 1)}, "1",
                                     "a profile", std::move(values)));
  return result;
}

nlohmann::ordered_json measure(const PageMeasures& page, const std::string& name, const std::string& part) {
  for (const auto& one : page.measures)
    if (one["name"] == name && one["part"] == part) return one;
  return {};
}

}  // namespace

TEST_CASE("page arrays: numbers are floats, first bytes first") {
  const PageArrays page = page_arrays(with("head_account/measured_profile", {1, 2, 3, 4, 5, undefined}), 100000);
  const auto& said = page.said["head_account/measured_profile"];
  CHECK(said["text"] == false);
  CHECK(said["axes"][2]["values"] == std::vector<int>{-1, 0, 1});
  const std::string low(12, '\0'), third("\x80\0\x40\x80\xa0\xc0", 6), high("\x3f\x40\x40\x40\x40\x7f", 6);
  CHECK(page.blocks.at(said["block"]) == packed_text(low + third + high));
}

TEST_CASE("page arrays: texts are JSON, long ones shortened, none of them hidden") {
  Result result;
  result.fields.push_back({"strongest_pairs/key_token",
                           {counting_axis("pair", "1", "", 0, 2)},
                           "1",
                           "tokens",
                           std::vector<std::string>{"\xE2\x80\xAE", "\"", std::string(100, 'x')},
                           {},
                           {}});
  const PageArrays page = page_arrays(result, 100000);
  CHECK(page.said["strongest_pairs/key_token"]["text"] == true);
  CHECK(page.blocks.at(0) == packed_text("[\"\\\\u202e\",\"\\\"\",\"" + std::string(79, 'x') + "…\"]"));
}

TEST_CASE("page arrays: what has no room is named, and the first keep theirs") {
  Result result = with("head_account/measured_profile", {1, 2, 3, 4, 5, 6});
  append(result.fields, with("position_atlas/kernel", {1, 2, 3, 4, 5, 6}).fields);
  const std::size_t one = page_arrays(result, 100000).blocks.front().size();
  const PageArrays page = page_arrays(result, one);
  CHECK(page.blocks.size() == 1);
  CHECK(page.said.contains("head_account/measured_profile"));
  CHECK(page.left_out == std::vector<std::string>{"position_atlas/kernel"});
}

TEST_CASE("page arrays: of too many maps those of the strongest heads stay") {
  Result result;
  const Index heads = 200, tokens = 64;
  std::vector<HeadName> names;
  std::vector<double> strength, offsets(static_cast<std::size_t>(heads), -1.0);
  for (Index head = 0; head < heads; ++head) {
    names.push_back({0, head});
    strength.push_back(static_cast<double>(head) / static_cast<double>(heads));
  }
  const Axis pairs = pairs_axis();
  std::vector<double> weights, all_offsets;
  for (int i = 0; i < 3; ++i) {
    weights.insert(weights.end(), strength.begin(), strength.end());
    all_offsets.insert(all_offsets.end(), offsets.begin(), offsets.end());
  }
  Fields measured("measured_offset");
  measured.add("offset", {pairs, layer_axis(1), head_axis(heads)}, "token", "offset", all_offsets);
  measured.flags("status", {pairs, layer_axis(1), head_axis(heads)}, "status",
                 std::vector<std::uint8_t>(3 * static_cast<std::size_t>(heads), 0),
                 {"offset", "own token", "flat", "edge"});
  measured.add("weight", {pairs, layer_axis(1), head_axis(heads)}, "1", "weight", weights);
  measured.add("threshold", {pairs, layer_axis(1), head_axis(heads)}, "1", "threshold", weights);
  measured.add("chance", {pairs, layer_axis(1), head_axis(heads)}, "1", "chance",
               std::vector<double>(weights.size(), 0.0));
  result.fields = measured.taken();
  Fields maps("attention_map");
  maps.add("weight",
           {head_name_axis("map_head", "head", names), counting_axis("query", "token", "", 0, tokens - 1),
            counting_axis("key", "token", "", 0, tokens - 1)},
           "1", "weight", std::vector<double>(static_cast<std::size_t>(heads * tokens * tokens), 0.5));
  append(result.fields, maps.taken());
  const PageArrays page = page_arrays(result, 100'000'000);
  const auto& kept = page.said["attention_map/weight"]["axes"][0]["values"];
  CHECK(kept.size() == 152);
  CHECK(kept.front() == "L0H48");
  CHECK(kept.back() == "L0H199");
  CHECK(page.said["attention_map/weight"]["whole"] == false);
}

TEST_CASE("measures: one for each Field of heads, one for each of its parts, whatever the order of axes") {
  Result result;
  Fields fields("some");
  const Axis layer = layer_axis(2), head = head_axis(2);
  fields.add("plain", {layer, head}, "nat", "plain", std::vector<double>{1, 2, 3, undefined});
  fields.undefined("nobody knows");
  fields.add("last", {layer, head, {"prediction", "1", "", std::vector<std::string>{"a", "b"}}}, "token", "last",
             std::vector<double>{1, 10, 2, 20, 3, 30, 4, 40});
  fields.flags("word", {layer, head}, "word", std::vector<std::uint8_t>{0, 1, 1, 0}, {"no", "yes"});
  fields.add("long", {layer, head, counting_axis("offset", "token", "", 0, 30)}, "1", "long",
             std::vector<double>(4 * 31, 0.0));
  fields.add("text", {layer, head}, "1", "text", std::vector<std::string>{"a", "", "c", "d"});
  result.fields = fields.taken();
  const PageMeasures page = page_measures(result);
  CHECK(page.layers.size() == 2);
  CHECK(page.measures.size() == 5);
  CHECK(measure(page, "some/text", "")["kind"] == "text");
  CHECK(measure(page, "some/text", "")["values"][2] == "c");
  CHECK(measure(page, "some/plain", "")["values"][2] == 3.0);
  CHECK(measure(page, "some/plain", "")["values"][3].is_null());
  CHECK(measure(page, "some/plain", "")["undefined"] == "nobody knows");
  CHECK(measure(page, "some/last", "b")["values"] == std::vector<double>{10, 20, 30, 40});
  CHECK(measure(page, "some/last", "b")["kind"] == "offset");
  CHECK(measure(page, "some/word", "")["meanings"][1] == "yes");
}

TEST_CASE("measures: the offset at which a head looks is the one that the table says") {
  const Result result = sample::result();
  const auto looks = measure(page_measures(result), "looks/offset", "");
  CHECK(looks["kind"] == "offset");
  const Field said = looks_field(result).value();
  const auto& offsets = std::get<std::vector<double>>(said.values);
  REQUIRE(looks["values"].size() == offsets.size());
  for (std::size_t i = 0; i < offsets.size(); ++i) CHECK(looks["values"][i] == number_json(offsets[i]));
}

TEST_CASE("page numbers: seven digits, null for what is undefined") {
  CHECK(rounded(1.0 / 3) == 0.3333333);
  CHECK(number_json(undefined).is_null());
  CHECK(number_json(-0.25) == -0.25);
}
