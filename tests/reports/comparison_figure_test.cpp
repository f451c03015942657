#include <algorithm>
#include <cmath>
#include <sstream>

#include "../../reports/page/page_data.h"
#include "../../reports/page/report.h"
#include "../../reports/tables/comparison_table.h"
#include "../../reports/tables/head_table.h"
#include "../catch.h"
#include "drawn_figure.h"
#include "sample_comparison.h"

using namespace headwave;

TEST_CASE(
    "comparison: the table has the heads that changed, stars beyond intervals, and one text where both are alike") {
  const Result result = sample::comparison_result();
  const std::vector<TableColumn> columns = comparison_columns(result, false, true);
  CHECK(terminal_table(columns) ==
        "head  offset      changed most at  profile           entropy         kind\n"
        "----  ----------  ---------------  ----------------  --------------  ----------------\n"
        "L0H1  -1 -> +1 *  -1               0.500 -> 2.500 *  0.500 -> 2.500  previous -> next\n");
  Result near = result;
  for (Field& field : near.fields)  // of L0H1, whose offset comes first
    if (field.name == "comparison/first" || field.name == "comparison/second")
      std::get<std::vector<double>>(field.values)[1] = field.name == "comparison/first" ? -1.012 : -1.009;
  CHECK(comparison_columns(near, false, true)[1].cells[0] == "-1.012 -> -1.009 *");
  const std::vector<TableColumn> all = comparison_columns(result, true, true);
  REQUIRE(all[0].cells.size() == 32);
  CHECK(all[0].cells[2] == "L0H2");
  CHECK(all[1].cells[2] == "-1 -> -");
  CHECK(all[5].cells[2] == "previous");
  CHECK(shown_columns(result, {.wide = true}).size() == all.size());
  CHECK(comparison_sentence(result) ==
        "1 of 32 heads changed beyond the intervals (the chance that any does by luck: 0.05)");
  CHECK(comparison_columns(Result{}, true, true).empty());
  CHECK(comparison_sentence(Result{}).empty());
  CHECK(
      comparison_note(result) ==
      "Cells: first result -> second result; * beyond the interval. changed most at: offset where the profile changed "
      "most in standard errors; profile: mean weight there.");
  CHECK(comparison_note(Result{}).empty());
}

TEST_CASE(
    "comparison: one paragraph says what was compared, what the runs were told differently, and what became of it") {
  const Result result = sample::comparison_result();
  CHECK(other_settings(result) ==
        std::vector<std::string>{"interventions: none -> shuffled-words", "text: seed: 1 -> 2"});
  CHECK(comparison_paragraph(result) ==
        "a against b. The runs differ in interventions: none -> shuffled-words; text: seed: 1 -> 2. 1 of 32 heads "
        "changed beyond the intervals (the chance that any does by luck: 0.05).");
  CHECK(report_page(result).find("The runs differ in interventions: none \\u2192 shuffled-words") != std::string::npos);
  CHECK(other_settings(Result{}).empty());
  CHECK(comparison_paragraph(Result{}).empty());
  Result parts = result;
  for (Field& field : parts.fields)
    if (field.name.starts_with("comparison/") && field.axes[0].name == "measure")
      std::get<std::vector<std::string>>(field.axes[0].values) = {"by_position", "by_own_token", "entropy_share"};
  CHECK(comparison_columns(parts, false, false).back().cells == std::vector<std::string>{"by position, by own token"});
}

TEST_CASE("comparison: Fields that do not go together are refused by name") {
  Result result = sample::comparison_result();
  std::get<std::vector<std::int64_t>>(field_of(result, "comparison/rank").values)[0] = 0;
  CHECK_THROWS_WITH(comparison_columns(result, true, false),
                    ContainsSubstring("comparison/rank: expected each of 0 to 31 once"));
  result = sample::comparison_result();
  Field& changed = field_of(result, "comparison/changed");
  changed.axes[0] = layer_axis(2);
  std::get<std::vector<std::uint8_t>>(changed.values).resize(16);
  CHECK_THROWS_WITH(comparison_columns(result, true, true),
                    ContainsSubstring("comparison/changed: expected 4 entries on the axis 'layer'"));
}

TEST_CASE("comparison: the page is coloured by every change, and holds both profiles") {
  const Result result = sample::comparison_result();
  std::vector<std::string> names;
  for (const auto& measure : page_measures(result).measures) names.push_back(measure.at("name"));
  for (const char* name : {"comparison/changed", "comparison/rank", "change/offset", "change/profile"})
    CHECK(std::ranges::count(names, name) == 1);
  const std::string page = report_page(result);
  CHECK(page.find("1 of 32 heads changed beyond the intervals") != std::string::npos);
  CHECK(finding_title(result).starts_with("1 of 32 heads changed beyond the intervals"));
  for (const char* array : {"\"comparison/first_profile\":{", "\"comparison/second_profile\":{"})
    CHECK(page.find(array) != std::string::npos);
}
