#include <algorithm>
#include <cmath>

#include "../../reports/figures/chosen_heads.h"
#include "../../reports/tables/head_findings.h"
#include "../../reports/tables/head_table.h"
#include "../catch.h"
#include "drawn_figure.h"
#include "sample_result.h"

using namespace headwave;

TEST_CASE("account: the profile figure draws what was measured and fills what every term adds") {
  const Result result = sample::result();
  const Figure figure = kind_of_figure("account_profile").draw(result, asking_for({"L0H1", "L2H3"}));
  REQUIRE(figure.panels.size() == 2);
  CHECK_THAT(figure.script(),
             ContainsSubstring("L0H1") && ContainsSubstring("L2H3") && ContainsSubstring("0.50: 60, 25, 15 %"));
  const Panel& panel = figure.panels.front();
  const auto filled = drawn_as(panel, "filledcurves"), lines = drawn_as(panel, "lines");
  REQUIRE((filled.size() == 4 && lines.size() == 2));
  for (std::size_t term = 1; term < 4; ++term) CHECK(column_of(filled[term], 1) == column_of(filled[term - 1], 2));
  CHECK(column_of(filled.front(), 1) == column_of(lines.front(), 1));  // from uniform attention
  CHECK(column_of(filled.back(), 2) == column_of(lines.back(), 1));    // to what was measured
  const Field& measured = result.at("head_account/measured_profile");
  const auto offsets = coordinates(measured, "offset");
  const auto shown = column_of(lines.back(), 0), weights = column_of(lines.back(), 1);
  const auto first = static_cast<std::size_t>(std::ranges::find(offsets, shown.front()) - offsets.begin());
  for (std::size_t t = 0; t < shown.size(); ++t)
    CHECK(weights[t] == measured.doubles()[offsets.size() + first + t]);  // of L0H1
}

TEST_CASE("account: where nothing meets itself the profile figure has no self") {
  Result result = sample::result();
  auto& dealt = std::get<std::vector<double>>(field_of(result, "head_account/dealt_profile").values);
  auto& part = std::get<std::vector<double>>(field_of(result, "head_account/part").values);
  for (auto* values : {&dealt, &part})
    std::fill_n(values->begin() + std::ssize(*values) / 3, values->size() / 3, std::nan(""));
  const std::string script = kind_of_figure("account_profile").draw(result, {}).script();
  CHECK(script.find(": 60, 15 %") != std::string::npos);
  CHECK(script.find("title \"own token\"") == std::string::npos);
  CHECK(kind_of_figure("account_profile").draw(sample::result(), {}).script().find("title \"own token\"") !=
        std::string::npos);
}

TEST_CASE("account: the grid of all heads divides every cell into the parts of its bits") {
  Result result = sample::result();
  const Figure figure = kind_of_figure("attention_bits").draw(result, {});
  for (const char* words : {"sink", "position", "word", "match", "full 4.0"})
    CHECK_THAT(figure.script(), ContainsSubstring(words));
  const auto boxes = drawn_as(figure.panels.front(), "boxxyerror");
  REQUIRE(boxes.size() == 4);
  double width = 0;
  for (const Series& part : boxes) width += 2 * column_of(part, 2).front();
  CHECK(width == Approx(0.94));  // of the first head's cell
}

TEST_CASE("account: a column holds six heads that are named, and says how many of all it shows") {
  FigureOptions options;
  options.width = 3.4;
  for (const char* head : {"L0H0", "L0H1", "L0H2", "L0H3", "L1H0", "L1H1"}) options.heads.emplace_back(head);
  const Figure six = kind_of_figure("account_profile").draw(sample::result(), options);
  CHECK(six.panels.size() == 6);
  CHECK(six.grid.height() <= 6);
  CHECK(six.shown == "6 of 32 heads are shown.");
  options.heads.clear();
  CHECK(kind_of_figure("account_profile").draw(sample::result(), options).shown ==
        "6 of 32 heads are shown, the strongest.");
}

TEST_CASE("account: profiles of which nothing is explained are not drawn, and the run says why") {
  Result result = sample::result();
  std::ranges::fill(std::get<std::vector<double>>(field_of(result, "head_account/part").values), std::nan(""));
  const std::vector<std::string> undrawn = drawable(result).undrawn;
  CHECK(std::ranges::count(undrawn, "every number is undefined: account_profile") == 1);
}

TEST_CASE("account: the rotary figure names the offset") {
  const Result result = sample::result();
  FigureOptions options;
  options.heads = {"L0H0"};
  const double planted = sample::planted_offset(0, 0);
  REQUIRE(planted == -1);
  CHECK(kind_of_figure("rotary_wave").draw(result, options).script().find("t = −1") != std::string::npos);
}

TEST_CASE("account: the strongest heads stand first in the table, the strength before the verdict") {
  Result result = sample::result({.bits = false});
  auto& strength = std::get<std::vector<double>>(field_of(result, "head_account/strength").values);
  for (std::size_t head = 0; head < strength.size(); ++head) strength[head] = 0.01 * static_cast<double>(head);
  strength[5] = std::nan("");
  const auto columns = shown_columns(result, {.all = true, .wide = true});
  const auto place = [&](const char* header) { return std::ranges::find(columns, header, &TableColumn::header); };
  REQUIRE(place("strength") != columns.end());
  CHECK((place("strength") + 1)->header == "profile");
  CHECK(columns[0].cells.front() == "L3H7");
  CHECK(place("strength")->cells.front() == "0.310");
  CHECK(columns[0].cells.back() == "L0H5");
  CHECK(place("strength")->cells.back().empty());
}

TEST_CASE("account: the table says what makes the profile of a head, and whether the predicted offset is met") {
  Result result = sample::result({.bits = false});
  HeadValues values = head_values(result);
  CHECK(values.word(0, "profile") == "positional");
  CHECK(values.number(0, "strength") == Approx(0.5));
  CHECK(values.number(0, "by_position") == Approx(0.6));
  CHECK(values.number(0, "by_own_token") == Approx(0.25));
  CHECK(values.number(0, "by_context") == Approx(0.15));
  CHECK(values.word(0, "agrees").empty());
  const Field& verdict = result.at("head_account/verdict");
  result.fields.push_back({"offset_agreement/verdict",
                           verdict.axes,
                           "1",
                           "verdict",
                           std::vector<std::uint8_t>(static_cast<std::size_t>(verdict.size()), 1),
                           {"undefined", "agrees"},
                           {}});
  values = head_values(result);
  CHECK(values.word(0, "agrees") == "agrees");
}
