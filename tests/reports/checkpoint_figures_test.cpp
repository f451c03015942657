#include <cmath>

#include "../../reports/figures/kinds.h"
#include "../../reports/tables/checkpoint_table.h"
#include "../../reports/tables/head_table.h"
#include "../catch.h"
#include "drawn_figure.h"
#include "sample_checkpoints.h"

using namespace headwave;

TEST_CASE("checkpoints: the numbers beside the figures are the counts and each head's shares") {
  const Result result{"", sample::checkpoint_fields(2, 2), {}};
  const auto counts = rows_of(checkpoint_counts_figure().draw(result, {}));
  REQUIRE(counts.front() == std::vector<std::string>{"checkpoint", "step", "with an offset", "positional", "self"});
  CHECK(counts.size() == 4);
  CHECK(counts[3] == std::vector<std::string>{"step-200", "200", "4", "2", "2"});
  const auto heads = rows_of(checkpoint_heads_figure().draw(result, {}));
  REQUIRE(heads.front() ==
          std::vector<std::string>{"checkpoint", "step", "layer", "head", "position_share", "positional_since"});
  CHECK(heads.size() == 1 + 3 * 4);
  CHECK(heads[5] == std::vector<std::string>{"step-10", "10", "0", "0", "0.5", "2"});
  CHECK(heads[6][4] == "-0.25");
  CHECK(heads[6][5] == "NaN");
}

TEST_CASE("checkpoints: the table of heads says since when each is what it is at the end") {
  Result result{"", sample::checkpoint_fields(2, 2), {}};
  const auto columns = head_columns(result);
  REQUIRE(columns.size() == 2);
  CHECK(columns[0].cells == std::vector<std::string>{"L0H0", "L0H1", "L1H0", "L1H1"});
  CHECK(columns[1].header == "positional since");
  CHECK(columns[1].cells == std::vector<std::string>{"step-200", "-", "step-0", "-"});
  Result accounted = result;
  const std::vector<Axis>& axes = result.at("checkpoints_head_account/verdict").axes;
  accounted.fields.push_back(make_field("checkpoints_head_account/strength", axes, "1", "",
                                        {0.9, 0, 0, 0, 0.9, 0, 0, 0, 0.1, 0.4, 0.2, std::nan("")}));
  const auto ranked = head_columns(accounted);
  CHECK(ranked[0].cells == std::vector<std::string>{"L0H1", "L1H0", "L0H0", "L1H1"});
  CHECK(ranked[1].cells == std::vector<std::string>{"-", "step-0", "step-200", "-"});
  CHECK(ranked[2].header == "strength");
  CHECK(ranked[2].cells == std::vector<std::string>{"0.400", "0.200", "0.100", ""});
  for (Field& field : result.fields)
    if (field.name == "checkpoints/positional_since") field.values = std::vector<double>{0, 1, 2, 3};
  CHECK_THROWS_WITH(head_columns(result), ContainsSubstring("expected one of 3 checkpoints"));
}

TEST_CASE("checkpoints: a line of the table says how many heads are what") {
  const Result result{"", sample::checkpoint_fields(2, 2), {}};
  const auto columns = checkpoint_columns(result);
  REQUIRE(columns.size() == 4);
  CHECK(columns[0].cells == std::vector<std::string>{"step-0", "step-10", "step-200"});
  CHECK(columns[1].header == "with an offset");
  CHECK(columns[2].cells == std::vector<std::string>{"0", "1", "2"});
  CHECK(checkpoint_columns({}).empty());
}

TEST_CASE("checkpoints: Fields that do not fit each other are refused in one line") {
  Result result{"", sample::checkpoint_fields(2, 2), {}};
  field_of(result, "checkpoints/positional_since").axes[1] = head_axis(1);
  field_of(result, "checkpoints/positional_since").values = std::vector<double>(2, 0.0);
  CHECK_THROWS_WITH(checkpoint_heads_figure().draw(result, {}),
                    ContainsSubstring("checkpoints/positional_since: expected 2 entries on the axis 'head'"));
}
