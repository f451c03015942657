#include <algorithm>

#include "../../reports/drawing/gnuplot.h"
#include "../../reports/figures/figures.h"
#include "../../reports/figures/kinds.h"
#include "../catch.h"
#include "drawn_figure.h"
#include "sample_result.h"

using namespace headwave;

TEST_CASE("word profile: its numbers are the predicted weights within 16 tokens, and where they point") {
  const auto rows = rows_of(word_profile_figure().draw(sample::result(), {}));
  CHECK(rows[0] == std::vector<std::string>{"layer", "head", "offset", "predicted_weight", "predicted_offset"});
  const auto has = [&](const char* offset) {
    return std::ranges::any_of(rows, [&](const auto& row) { return row[2] == offset; });
  };
  CHECK(has("-16"));
  CHECK_FALSE(has("-17"));
}

TEST_CASE("word profile: an offset for every head, and weights, or one line that says what is wrong") {
  Result result = sample::result();
  for (Field& field : result.fields)
    if (field.name == "word_atlas/predicted_offset") {
      field.axes[1].values = std::vector<std::int64_t>{0};
      field.values = std::vector<double>(static_cast<std::size_t>(field.axes[0].size()), 0.0);
    }
  CHECK_THROWS_WITH(word_profile_figure().draw(result, {}), ContainsSubstring("word_atlas/predicted_offset: expected"));
}
