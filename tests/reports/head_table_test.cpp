#include "../../reports/tables/head_table.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include <fmt/format.h>

#include "../catch.h"
#include "sample_result.h"

using namespace headwave;

namespace {

Result small_result() {
  Axis layers = layer_axis(1);
  layers.values = std::vector<std::int64_t>{7};
  const std::vector<Axis> axes{layers, head_axis(5)};
  Result result;
  result.fields = {make_field("measured_offset/offset", axes, "token", "", {-2, not_defined, not_defined, 3, 5}),
                   make_field("measured_offset/weight", axes, "1", "", {0.34567, 0.2, 0.01, 0.1, 0.1}),
                   make_field("measured_offset/threshold", axes, "1", "", {0.01, 0.02, not_defined, 0.04, 0.05}),
                   {"measured_offset/status",
                    axes,
                    "1",
                    "",
                    std::vector<std::uint8_t>{0, 1, 2, 0, 9},
                    {"offset", "own token", "flat"},
                    {}}};
  return result;
}

/// Every column of all heads, layer by layer; of an atlas the clearest first.
std::string wide_table(const Result& result) {
  const bool measured = result.find("measured_offset/offset") != nullptr;
  return terminal_table(shown_columns(result, {.all = true, .wide = true, .sort = measured ? "head" : ""}));
}

std::string shown_table(const Result& result, const HeadTableOptions& options) {
  return terminal_table(shown_columns(result, options));
}

Result without_table(const char* term) {
  const std::vector<Axis> axes{layer_axis(1), head_axis(2)};
  Result result;
  result.fields = {make_field("position_atlas/predicted_offset", axes, "token", "", {std::nan(""), std::nan("")})};
  result.fields.front().attributes["undefined"] = std::string("no position table");
  if (*term != '\0') result.provenance["position_term"] = std::string(term);
  return result;
}

}  // namespace

TEST_CASE("head table: the short one by hand, without an account, the heaviest head first") {
  CHECK(shown_table(small_result(), {}) ==
        "head  looks at             weight\n"
        "----  -------------------  ------\n"
        "L7H0  2 back               0.3457\n"
        "L7H1  at itself            0.2000\n"
        "L7H3  3 ahead              0.1000\n"
        "L7H4  5 ahead              0.1000\n"
        "L7H2  no preferred offset  0.0100\n");
  CHECK(head_paragraph(small_result()) == "3 of 5 heads look at a preferred offset, 1 at themselves.");
}

TEST_CASE("head table: the ten strongest heads, or all, or some, in the order that is asked for") {
  Result result;
  const std::vector<Axis> heads{layer_axis(2), head_axis(6)};
  std::vector<double> weights, offsets;
  for (int i = 0; i < 12; ++i) {
    weights.push_back(0.01 * i);
    offsets.push_back(i % 2 == 0 ? -i : i);
  }
  result.fields = {make_field("measured_offset/offset", heads, "token", "", offsets),
                   make_field("measured_offset/weight", heads, "1", "", weights)};
  const auto names = [&](const HeadTableOptions& options) { return shown_columns(result, options)[0].cells; };
  REQUIRE(names({}).size() == 10);
  CHECK(names({}).front() == "L1H5");
  CHECK(names({.all = true}).size() == 12);
  CHECK(names({.heads = {"L0H1", "L1H0"}}) == std::vector<std::string>{"L1H0", "L0H1"});
  CHECK(names({.sort = "offset"}).front() == "L1H4");
  CHECK(names({.sort = "head"}).front() == "L0H0");
  CHECK(names({.all = true, .sort = "weight"}).back() == "L0H0");
  const auto wide = shown_columns(result, {.wide = true});
  CHECK(wide[1].header == "looks at");
  CHECK_THROWS_WITH(names({.sort = "size"}), ContainsSubstring("cannot be sorted by 'size'"));
}

TEST_CASE("head table: a kind stands beside its score, what the score must exceed, and chance") {
  Result result = small_result();
  const std::vector<Axis> heads = result.at("measured_offset/offset").axes;
  const std::vector<std::string> meanings{"other",     "previous",  "next", "one offset (Voita)",
                                          "duplicate", "induction", "sink", "undefined"};
  Field kind{"head_types/kind", heads, "1", "", std::vector<std::uint8_t>{1, 6, 0, 0, 0}, meanings, {}};
  kind.attributes["documents"] = std::int64_t{3};
  kind.attributes["least_documents"] = std::int64_t{8};
  Field previous = make_field("head_types/previous", heads, "1", "", {0.98, 0.1, 0.1, 0.1, 0.1});
  previous.attributes["threshold"] = 0.5;
  Field sink = make_field("head_types/sink_weight", heads, "1", "", {0.01, 0.7, 0.1, 0.1, 0.1});
  sink.attributes["threshold"] = 0.3;
  for (const Field& field : {kind, previous, sink}) result.fields.push_back(field);
  result.fields.push_back(make_field("head_types/previous_baseline", heads, "1", "", {0.01, 0.02, 0.01, 0.01, 0.01}));
  const auto wide = shown_columns(result, {.wide = true, .sort = "head"});
  const auto cells = std::ranges::find(wide, "kind", &TableColumn::header);
  REQUIRE(cells != wide.end());
  CHECK(cells->cells[0] == "previous 0.98, chance 0.01");
  CHECK(cells->cells[1] == "sink 0.70");
  CHECK(cells->cells[2].empty());
  CHECK(shown_columns(result, {.sort = "kind"})[0].cells.back() == "L7H1");
}

TEST_CASE("head table: the title is what was found, and the paragraph below does not say it again") {
  Result result = small_result();
  result.provenance["model"] = std::string("/models/minilm");
  const std::string title = finding_title(result);
  CHECK_THAT(title, ContainsSubstring("In minilm ") && ContainsSubstring(" of 5 heads look at a preferred offset"));
  CHECK_THAT(head_paragraph(result), ContainsSubstring("look at a preferred offset"));
  CHECK_THAT(head_paragraph(result, true), !ContainsSubstring("look at a preferred offset"));
  Result other;
  CHECK(finding_title(other) == "headwave result");
  other.title = "spectra of three models";
  CHECK(finding_title(other) == "spectra of three models");
}

TEST_CASE("head table: without an account a head looks at its measured offset, or at itself") {
  const std::optional<Field> looks = looks_field(small_result());
  REQUIRE(looks);
  CHECK(looks->axes.size() == 2);
  const auto& offsets = std::get<std::vector<double>>(looks->values);
  CHECK(offsets[0] == -2);
  CHECK(offsets[1] == 0);
  CHECK(std::isnan(offsets[2]));
  CHECK(shown_columns(small_result(), {.wide = true})[2].header == "weight");
  CHECK_FALSE(looks_field({}));
}

TEST_CASE("head table: the number of `looks` is the account's, and the measured offset beside it is called so") {
  const Result result = sample::result({.bits = false});
  const auto wide = sorted_columns(result, {.wide = true, .sort = "head"});
  const auto cells = [&](const char* header) { return std::ranges::find(wide, header, &TableColumn::header)->cells; };
  const std::vector<double> offsets = std::get<std::vector<double>>(looks_field(result)->values);
  const std::vector<std::string> looks = cells("looks at");
  REQUIRE(offsets.size() == looks.size());
  std::size_t nowhere = 0;
  for (std::size_t i = 0; i < offsets.size(); ++i) {
    CAPTURE(i, looks[i]);
    if (std::isnan(offsets[i])) {
      ++nowhere;
      CHECK((looks[i] == "no preferred offset" || looks[i] == "at the search's end"));
    } else if (offsets[i] == 0) {
      CHECK(looks[i].starts_with("at itself"));
    } else if (!looks[i].starts_with("broadly")) {
      CHECK(looks[i].starts_with(fmt::format("{:g} {}", std::abs(offsets[i]), offsets[i] < 0 ? "back" : "ahead")));
    }
  }
  CHECK(nowhere > 0);
  CHECK(nowhere < offsets.size());
  CHECK(cells("measured offset").size() == 32);
  CHECK(std::ranges::find(wide, "offset", &TableColumn::header) == wide.end());
}

TEST_CASE("head table: by hand, offsets only") {
  CHECK(wide_table(small_result()) ==
        "head  looks at             weight                 offset  threshold\n"
        "----  -------------------  ------  ---------------------  ---------\n"
        "L7H0  2 back               0.3457                     -2     0.0100\n"
        "L7H1  at itself            0.2000  undefined (own token)     0.0200\n"
        "L7H2  no preferred offset  0.0100       undefined (flat)\n"
        "L7H3  3 ahead              0.1000                     +3     0.0400\n"
        "L7H4  5 ahead              0.1000                     +5     0.0500\n");
}

TEST_CASE("head table: by hand, a Field that asks for a column, of some of the heads") {
  Result result = small_result();
  const std::vector<Axis> axes = result.at("measured_offset/offset").axes;
  Axis heads = head_axis(2);
  heads.values = std::vector<std::int64_t>{1, 3};
  result.fields.push_back(make_field("mine/share", {axes[0], heads}, "1", "", {0.25, not_defined}));
  result.fields.back().attributes["column"] = std::string("mine");
  const std::string table = wide_table(result);
  CHECK(table.starts_with("head  looks at             weight   mine                 offset  threshold\n"));
  for (const char* line : {"L7H1  at itself            0.2000  0.250  undefined (own token)     0.0200\n",
                           "L7H3  3 ahead              0.1000                            +3     0.0400\n"})
    CHECK(table.find(line) != std::string::npos);

  result.fields.back().axes = {heads, axes[0]};
  CHECK_THROWS_WITH(wide_table(result), ContainsSubstring(result.fields.back().name));
}

TEST_CASE("head table: by hand, with clusters and planted truth") {
  Result result = small_result();
  const std::vector<Axis> axes = result.at("measured_offset/offset").axes;
  const Axis cluster{"cluster", "1", "", std::vector<std::int64_t>{0, 1}};
  result.fields.push_back(make_field("head_cluster/share", {axes[0], axes[1], cluster}, "1", "",
                                     {1.0, 0.0, 0.25, 0.75, 0.5, 0.5, not_defined, 1.0, not_defined, not_defined}));
  result.fields.push_back(
      {"planted/kind", axes, "1", "", std::vector<std::string>{"left", "self", "noise", "sink", "right"}, {}, {}});
  // half a token away still agrees; 0 is found as "self"; a sink must not have an offset
  result.fields.push_back(make_field("planted/offset", axes, "token", "", {-2.5, 0.0, not_defined, not_defined, 4.4}));
  CHECK(
      wide_table(result) ==
      "head  looks at             weight                 offset  threshold  cluster  share  planted    at  found\n"
      "----  -------------------  ------  ---------------------  ---------  -------  -----  -------  ----  -------\n"
      "L7H0  2 back               0.3457                     -2     0.0100        0  100 %  left     -2.5  agrees\n"
      "L7H1  at itself            0.2000  undefined (own token)     0.0200        1   75 %  self        0  agrees\n"
      "L7H2  no preferred offset  0.0100       undefined (flat)                   0   50 %  noise          agrees\n"
      "L7H3  3 ahead              0.1000                     +3     0.0400        1  100 %  sink           differs\n"
      "L7H4  5 ahead              0.1000                     +5     0.0500                  right    +4.4  differs\n");
}

TEST_CASE("head table: what positions alone predict, beside the measured offsets or by itself") {
  Result result = small_result();
  const std::vector<Axis> heads = result.at("measured_offset/offset").axes;
  result.fields.push_back(
      make_field("position_atlas/predicted_offset", heads, "token", "", {-2.0, 0.0, not_defined, 4.0, not_defined}));
  result.fields.push_back(make_field("position_atlas/toeplitz_r2", heads, "1", "", {0.9, 0.8, 0.1, 0.7, not_defined}));
  result.fields.push_back(
      make_field("position_atlas/null_quantile", heads, "1", "", {0.3, 0.3, 0.3, 0.3, not_defined}));
  result.fields.push_back(make_field("position_atlas/other_r2", heads, "1", "", {0.6, 0.5, 0.1, 0.7, not_defined}));
  result.fields.push_back(
      make_field("position_atlas/other_null_quantile", heads, "1", "", {0.2, 0.2, 0.2, 0.2, not_defined}));
  result.fields.push_back(make_field("position_atlas/q_value", heads, "1", "", {0.001, 0.02, 0.3, 0.001, not_defined}));
  result.fields.push_back(
      make_field("position_atlas/predicted_weight", heads, "1", "", {0.25, 0.9, 0.01, 0.02, not_defined}));
  result.fields.push_back(make_field("position_atlas/chance", heads, "1", "", {0.01, 0.01, 0.01, 0.01, not_defined}));
  CHECK(wide_table(result).starts_with(
      "head  looks at             weight                 offset  by weights  threshold\n"));
  Result delays = result;
  delays.fields.push_back(
      make_field("phase_delay/predicted_offset", heads, "token", "", {-2.004, -0.001, not_defined, 4.25, not_defined}));
  const std::string table = wide_table(delays);
  CHECK(
      table.starts_with("head  looks at             weight                 offset  by weights  by phases  threshold"));
  CHECK(table.find("-2      -2.00") != std::string::npos);
  CHECK(table.find("+4      +4.25") != std::string::npos);
  CHECK(table.find(" 0       0.00") != std::string::npos);
  result.fields.erase(result.fields.begin(), result.fields.begin() + 4);
  CHECK(wide_table(result) ==
        "head      proxy  weight  x chance  R2 beyond itself  null of R2  q of R2\n"
        "----  ---------  ------  --------  ----------------  ----------  -------\n"
        "L7H1          0  0.9000        90             0.500       0.200    0.020\n"
        "L7H0         -2  0.2500        25             0.600       0.200    0.001\n"
        "L7H3         +4  0.0200       2.0             0.700       0.200    0.001\n"
        "L7H2  undefined  0.0100       1.0             0.100       0.200    0.300\n"
        "L7H4  undefined\n");
}

TEST_CASE(
    "head table: of an atlas random words are the prediction, the weights are exact in layer 0 and a proxy above") {
  Result result;
  const std::vector<Axis> heads{layer_axis({0, 1}), head_axis(2)};
  result.fields.push_back(
      make_field("word_atlas/predicted_offset", heads, "token", "", {not_defined, -1.0, 2.0, not_defined}));
  result.fields.push_back({"word_atlas/status",
                           heads,
                           "1",
                           "",
                           std::vector<std::uint8_t>{3, 0, 0, 1},
                           {"offset", "edge", "chance", "weak", "nothing"},
                           {}});
  result.fields.push_back(make_field("word_atlas/predicted_weight", heads, "1", "", {0.011, 0.2, 0.5, 0.1}));
  result.fields.push_back(make_field("word_atlas/chance", heads, "1", "", {0.01, 0.01, 0.01, 0.01}));
  CHECK(wide_table(result) ==
        "head         predicted  weight  x chance\n"
        "----  ----------------  ------  --------\n"
        "L1H0                +2  0.5000        50\n"
        "L0H1                -1  0.2000        20\n"
        "L1H1  undefined (edge)  0.1000        10\n"
        "L0H0  undefined (weak)  0.0110       1.1\n");
  result.fields.push_back(
      make_field("position_atlas/predicted_offset", heads, "token", "", {1.0, -1.0, 3.0, not_defined}));
  result.fields.push_back(make_field("position_atlas/q_value", heads, "1", "", {0.001, 0.001, 0.001, 0.9}));
  result.fields.push_back(make_field("position_atlas/predicted_weight", heads, "1", "", {0.9, 0.1, 0.1, 0.1}));
  CHECK(wide_table(result) ==
        "head         predicted  weight  x chance  by weights      proxy\n"
        "----  ----------------  ------  --------  ----------  ---------\n"
        "L1H0                +2  0.5000        50                     +3\n"
        "L0H1                -1  0.2000        20          -1\n"
        "L1H1  undefined (edge)  0.1000        10              undefined\n"
        "L0H0  undefined (weak)  0.0110       1.1          +1\n");
}

TEST_CASE("head table: an offset that a wider search may find says so, and how far above chance a weight is") {
  Result result = small_result();
  const std::vector<Axis> heads = result.at("measured_offset/offset").axes;
  std::get<std::vector<std::uint8_t>>(result.fields[3].values)[2] = 3;
  result.fields[3].flag_meanings.emplace_back("edge");
  result.fields.push_back(
      make_field("measured_offset/chance", heads, "1", "", {0.002, 0.002, 0.002, 0.04, not_defined}));
  result.fields.push_back(make_field("phase_delay/predicted_offset", heads, "token", "",
                                     {not_defined, -2.0, not_defined, not_defined, not_defined}));
  result.fields.push_back({"phase_delay/status",
                           heads,
                           "1",
                           "",
                           std::vector<std::uint8_t>{1, 0, 2, 3, 4},
                           {"offset", "edge", "chance", "weak", "nothing"},
                           {}});
  CHECK(wide_table(result) ==
        "head  looks at             weight  x chance                 offset         by phases  threshold\n"
        "----  -------------------  ------  --------  ---------------------  ----------------  ---------\n"
        "L7H0  2 back               0.3457       173                     -2  undefined (edge)     0.0100\n"
        "L7H1  at itself            0.2000       100  undefined (own token)             -2.00     0.0200\n"
        "L7H2  at the search's end  0.0100       5.0       undefined (edge)         undefined\n"
        "L7H3  3 ahead              0.1000       2.5                     +3  undefined (weak)     0.0400\n"
        "L7H4  5 ahead              0.1000                               +5         undefined     0.0500\n");
}

TEST_CASE("head table: a prediction that is undefined for every head has no column") {
  Result result = small_result();
  const std::vector<Axis> heads = result.at("measured_offset/offset").axes;
  const std::vector<double> nothing(5, not_defined);
  result.fields.push_back(make_field("position_atlas/q_value", heads, "1", "", nothing));
  result.fields.push_back(make_field("rotary_wave/predicted_offset", heads, "token", "", nothing));
  result.fields.push_back(make_field("rotary_wave/status", heads, "1", "", {1, 1, 1, 1, 1}));
  result.fields.back().values = std::vector<std::uint8_t>(5, 1);
  result.fields.back().flag_meanings = {"offset", "edge"};
  result.fields.push_back(
      make_field("position_atlas/predicted_offset", heads, "token", "", {-2, 0, 1, not_defined, 1}));
  CHECK(wide_table(result).starts_with(
      "head  looks at             weight                 offset  by weights  threshold\n"));
  CHECK_THAT(head_answer(result, shown_columns(result, {.wide = true})),
             !ContainsSubstring("undefined for every head"));
}

TEST_CASE("head table: without measured offsets there is none") {
  CHECK(shown_columns(Result{}, {}).empty());
}

TEST_CASE("head table: it says what lies beyond the reach where that is more than a tenth") {
  Result result = sample::result();
  const auto columns = shown_columns(result, {.all = true, .wide = true});
  const auto& names = columns[0].cells;
  const auto beyond = std::ranges::find(columns, "beyond reach", &TableColumn::header);
  REQUIRE(beyond != columns.end());
  for (std::size_t row = 0; row < names.size(); ++row)
    CHECK(beyond->cells[row] == (names[row].ends_with("H1") || names[row].ends_with("H2") ? "30 %" : ""));
  std::erase_if(result.fields, [](const Field& field) { return field.group() == "offset_by_query"; });
  for (const TableColumn& column : shown_columns(result, {.wide = true})) CHECK(column.header != "beyond reach");
}

TEST_CASE("a model without a position table is said to have none, in place of a table of names") {
  const Result rotary = without_table("rotary");
  CHECK(head_answer(rotary, shown_columns(rotary, {})) == "by weights: undefined, the model has no position table\n");
}

TEST_CASE("beside measured offsets the line about positions stands under the table") {
  Result result = without_table("rotary");
  const std::vector<Axis> axes{layer_axis(1), head_axis(2)};
  result.fields.push_back(make_field("measured_offset/offset", axes, "token", "", {-1, 2}));
  CHECK(head_answer(result, shown_columns(result, {})) ==
        "2 of 2 heads look at a preferred offset.\n\n"
        "head  looks at\n----  --------\nL0H0  1 back\nL0H1  2 ahead\n\n"
        "by weights: undefined, the model has no position table\n");
}

TEST_CASE("where there is a position table, or nobody asked, nothing is said") {
  Result result = without_table("");
  result.fields.front().attributes["undefined"] = std::string("the scores do not depend on position");
  CHECK(head_answer(result, {}).empty());
}
