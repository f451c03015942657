#include <algorithm>

#include "../../core/fields/field_reader.h"
#include "../../reports/figures/figures.h"
#include "../catch.h"
#include "drawn_figure.h"
#include "sample_result.h"

using namespace headwave;

TEST_CASE("word profile: its curves are the predicted weights within 16 tokens, as parts of their largest") {
  const Result result = sample::result();
  const Figure figure = kind_of_figure("word_profile").draw(result, {});
  REQUIRE(figure.panels.size() == 32);
  const Field& field = result.at("word_atlas/profile");
  const auto all = coordinates(field, "offset");
  const Series line = drawn_as(figure.panels[5], "lines").front();
  const auto offsets = column_of(line, 0), curve = column_of(line, 1);
  CHECK((offsets.front() == -16 && offsets.back() == 16));
  const auto profile = slice_of(field.doubles(), 5, all.size());
  const auto first = static_cast<std::size_t>(std::ranges::find(all, -16.0) - all.begin());
  const double peak = *std::ranges::max_element(profile.subspan(first, offsets.size()));
  for (std::size_t t = 0; t < offsets.size(); ++t) CHECK(curve[t] == Approx(profile[first + t] / peak));
}

TEST_CASE("word profile: an offset for every head, and weights, or one line that says what is wrong") {
  Result result = sample::result();
  for (Field& field : result.fields)
    if (field.name == "word_atlas/predicted_offset") {
      field.axes[1].values = std::vector<std::int64_t>{0};
      field.values = std::vector<double>(static_cast<std::size_t>(field.axes[0].size()), 0.0);
    }
  CHECK_THROWS_WITH(kind_of_figure("word_profile").draw(result, {}),
                    ContainsSubstring("word_atlas/predicted_offset: expected"));
}
