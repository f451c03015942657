// What figures choose to show, and mark, so that it can be seen.
#include <algorithm>
#include <cmath>
#include <set>
#include <sstream>

#include "../../core/errors/error.h"
#include "../../core/fields/field_reader.h"
#include "../../reports/tables/head_table.h"
#include "../catch.h"
#include "drawn_figure.h"
#include "sample_result.h"

using namespace headwave;

TEST_CASE("redefined: columns in which the shift can be seen come first, in the order of the file, then the nearest") {
  Result result = sample::result();
  REQUIRE(sample::planted_offset(0, 2) == -3);  // T = 512
  const auto columns_at = [&](const std::vector<double>& frequencies) {
    Field& field = field_of(result, "periodic_columns/peak_frequency");
    auto& values = std::get<std::vector<double>>(field.values);
    const std::size_t sides = field.axes.size() == 4 ? 2 : 1;
    const std::size_t components = values.size() / 32 / sides;
    const auto numbers = coordinates(field, "component");
    for (std::size_t wave = 0; wave < frequencies.size(); ++wave)
      for (std::size_t c = 0; c < components; ++c)
        if (numbers[c] == static_cast<double>(wave + 2))  // the sample's columns count from 2
          values[(2 * components + c) * sides] = frequencies[wave];
    std::set<std::string> columns;
    const std::string script = kind_of_figure("redefined").draw(result, asking_for({"L0H2"})).script();
    for (std::size_t at = script.find("\"column "); at != std::string::npos; at = script.find("\"column ", at + 1))
      columns.insert(script.substr(at + 8, script.find(',', at) - at - 8));
    return columns;
  };
  using Columns = std::set<std::string>;
  CHECK(columns_at({5, 6, 40, 50}) == Columns{"4", "5"});    // 3 tokens are 0.03 of a period at f = 5
  CHECK(columns_at({40, 6, 5, 50}) == Columns{"2", "5"});    // 0.23 and 0.29
  CHECK(columns_at({5, 11, 10, 200}) == Columns{"3", "4"});  // 11: 0.064; 10: 0.059, the nearest; 200: more than half
  CHECK(columns_at({5, 6, 7, 8}) == Columns{"4", "5"});      // none: the nearest
}

TEST_CASE("clusters: under a causal mask no centroid is drawn at offsets that it forbids") {
  Result result = sample::result();
  auto& centroids = values_of(result, "head_cluster/centroid");
  const std::size_t offsets = centroids.size() / 6;
  for (std::size_t i = 0; i < centroids.size(); ++i)
    if (i % offsets > offsets / 2) centroids[i] = 0;
  const auto drawn = [&] {
    return column_of(drawn_as(kind_of_figure("cluster_centroids").draw(result, {}).panels.front(), "lines").front(), 0);
  };
  CHECK(drawn().size() == offsets);
  result.provenance["attention"] = std::string("causal");
  CHECK(drawn().size() == offsets / 2 + 1);
  CHECK(drawn().back() == 0);
}

TEST_CASE("figures: those that follow waves are drawn under a position term only if they are asked for by name") {
  Result result = sample::result();
  const auto is_drawn = [&](const std::vector<std::string>& only) {
    return std::ranges::count(drawable(result, {.only = only}).kinds, "phase_spectrum", &FigureKind::name) == 1;
  };
  CHECK(is_drawn({}));
  field_of(result, "phase_spectrum/query").attributes["position_term"] = std::string("left out");
  CHECK_FALSE(is_drawn({}));
  CHECK(is_drawn({"phase_spectrum"}));
  CHECK_THAT(caption_of(kind_of_figure("phase_spectrum"), result), ContainsSubstring("before the position term"));
}

TEST_CASE("clusters: those without a preference are grey, others keep their colour") {
  Result result = sample::result();
  auto& centroids = values_of(result, "head_cluster/centroid");
  const std::size_t offsets = centroids.size() / 6;
  std::fill(centroids.begin(), centroids.begin() + static_cast<std::ptrdiff_t>(2 * offsets), 2.0);
  centroids[3] = 4.9;                                                    // cluster 0: below 2.5 times its median
  centroids[offsets + 3] = 5.0;                                          // cluster 1
  for (std::size_t t = offsets / 2; t < offsets; ++t) centroids[t] = 0;  // hidden by a mask: does not count
  const Figure figure = kind_of_figure("cluster_shares").draw(result, {});
  CHECK_THAT(figure.script(), ContainsSubstring("\"0: none\"") && ContainsSubstring("\"1: −7\""));
  const auto pies = drawn_as(figure.panels.front(), "circles");
  REQUIRE(pies.size() == 6);
  CHECK_THAT(pies[0].with, ContainsSubstring(color_of(ink::rest)));
  CHECK_THAT(pies[1].with, ContainsSubstring(color_of(categorical(1))));
  CHECK(count_drawn(figure, "labels") > 0);  // the second code
  FigureOptions tiny;
  tiny.width = 2;
  CHECK(count_drawn(kind_of_figure("cluster_shares").draw(sample::result({.heads = 64}), tiny), "labels") == 0);
}

TEST_CASE("clusters: a centroid that is largest at the end of the window has no peak") {
  Result result = sample::result();
  auto& centroids = values_of(result, "head_cluster/centroid");
  centroids[0] = 1000;
  CHECK_THAT(kind_of_figure("cluster_shares").draw(result, {}).script(), ContainsSubstring("\"0: none\""));
  Field& field = field_of(result, "head_cluster/centroid");
  field.axes[1] = counting_axis("offset", "token", "", -10, 9);
  centroids.resize(6 * 20);
  CHECK_THROWS_WITH(kind_of_figure("cluster_shares").draw(result, {}),
                    ContainsSubstring("head_cluster/centroid: found 20 offsets"));
}

TEST_CASE("offsets beyond a panel are pointed to") {
  Result result = sample::result();
  auto& predicted = values_of(result, "word_atlas/predicted_offset");
  predicted[0] = 40;
  const std::string kernels = kind_of_figure("word_profile").draw(result, {}).script();
  CHECK(count_of(kernels, "\"+40 →\"") == 1);
}

TEST_CASE("offset profile: the further a weight exceeds chance, the fuller the ink") {
  Result result = sample::result();
  const std::vector<double> looks = std::get<std::vector<double>>(looks_field(result)->values);
  auto& thresholds = values_of(result, "measured_offset/threshold");
  const std::size_t heads = looks.size();
  const auto strengths = [&](double ratio) {
    for (std::size_t i = 0; i < thresholds.size(); ++i)
      if (const auto head = static_cast<Index>(i % heads); !std::isnan(looks[i % heads]))
        thresholds[i] = sample::weight_at(head / 8, head % 8, looks[i % heads]) / ratio;
    std::set<std::string> found;
    const std::string script = kind_of_figure("offset_profile").draw(result, {}).script();
    for (std::size_t at = script.find("rgb \"#0072B2\" fs solid "); at != std::string::npos;
         at = script.find("rgb \"#0072B2\" fs solid ", at + 1))
      found.insert(script.substr(at + 23, script.find(' ', at + 23) - at - 23));
    return found;
  };
  using Strengths = std::set<std::string>;
  CHECK(strengths(1) == Strengths{"0.16"});
  CHECK(strengths(32) == Strengths{"0.8"});
  CHECK(strengths(1e6) == Strengths{"0.8"});
  CHECK(strengths(NAN) == Strengths{"0.16"});
  REQUIRE(strengths(std::sqrt(32.0)).size() == 1);
  CHECK(std::stod(*strengths(std::sqrt(32.0)).begin()) == Approx(0.48));
}

TEST_CASE("text on colours: white on dark ones, black on bright ones") {
  CHECK(text_on(categorical(0)) == ink::paper);
  CHECK(text_on(categorical(1)) == ink::text);  // luminance 0.22: black contrasts more, 5.4 against 3.9
  CHECK(text_on(categorical(4)) == ink::text);
  CHECK(text_on(ink::rest) == ink::text);
}
