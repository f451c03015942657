#include <cmath>

#include "../../reports/tables/head_table.h"
#include "../catch.h"

using namespace headwave;

namespace {

Result without_table(const char* term) {
  const std::vector<Axis> axes{layer_axis(1), head_axis(2)};
  Result result;
  result.fields = {make_field("position_atlas/predicted_offset", axes, "token", "", {std::nan(""), std::nan("")})};
  result.fields.front().attributes["undefined"] = std::string("no position table");
  if (*term != '\0') result.provenance["position_term"] = std::string(term);
  return result;
}

}  // namespace

TEST_CASE("a model without a position table is said to have none, in place of a table of names") {
  const Result rotary = without_table("rotary");
  CHECK(head_answer(rotary, shown_columns(rotary, {})) ==
        "offsets by position alone: undefined, the model has no position table (its positions are rotary)\n");
  CHECK_THAT(position_note(without_table("linear bias")), ContainsSubstring("a linear bias of the scores"));
  CHECK_THAT(position_note(without_table("relative buckets")), ContainsSubstring("its positions are relative buckets"));
  CHECK_THAT(position_note(without_table("")), ContainsSubstring("nothing tells it positions"));
}

TEST_CASE("beside measured offsets the line about positions stands under the table") {
  Result result = without_table("rotary");
  const std::vector<Axis> axes{layer_axis(1), head_axis(2)};
  result.fields.push_back(make_field("measured_offset/offset", axes, "token", "", {-1, 2}));
  CHECK(head_answer(result, shown_columns(result, {})) ==
        "2 of 2 heads look at a preferred offset.\n\n"
        "head  looks at\n----  --------\nL0H0  1 back\nL0H1  2 ahead\n\n"
        "by weights: undefined, the model has no position table (its positions are rotary)\n");
  result.fields.push_back(make_field("position_term/kernel", {}, "1", "", {1}));
  CHECK_THAT(position_note(result), ContainsSubstring("position_term/kernel in results.h5"));
  result.fields.push_back(make_field("rotary_wave/status", axes, "1", "", {0, 1}));
  CHECK_THAT(position_note(result), ContainsSubstring("rotary_wave/... in results.h5 is their wave"));
}

TEST_CASE("where there is a position table, or nobody asked, nothing is said") {
  Result result = without_table("");
  result.fields.front().attributes["undefined"] = std::string("the scores do not depend on position");
  CHECK(position_note(result).empty());
  result.fields.clear();
  CHECK(position_note(result).empty());
}
