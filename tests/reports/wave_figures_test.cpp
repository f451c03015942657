#include <algorithm>
#include <cmath>
#include <numeric>
#include <sstream>

#include "../../reports/figures/chosen_heads.h"
#include "../../reports/figures/figures.h"
#include "../catch.h"
#include "drawn_figure.h"
#include "sample_result.h"

using namespace headwave;

TEST_CASE("position components: the shares in per cent, those of 4 and 12 written below the curve") {
  Result result = sample::result();
  const Figure figure = kind_of_figure("position_components").draw(result, {});
  const auto percent = column_of(drawn_as(figure.panels.front(), "lines").front(), 1);
  const auto& shares = result.at("position_components/cumulative_share").doubles();
  REQUIRE(percent.size() == shares.size());
  CHECK(percent[3] == 100 * shares[3]);
  const std::string script = figure.script();
  CHECK(script.find("\"4 components: 49.4 %\"") != std::string::npos);
  CHECK(script.find("\"12 components: 87.0 %\" at graph 0.98") != std::string::npos);

  Field& few = field_of(result, "position_components/cumulative_share");
  few.axes[0] = counting_axis("component", "1", "", 1, 5);
  values_of(result, few.name).resize(5);
  const std::string short_script = kind_of_figure("position_components").draw(result, {}).script();
  CHECK(count_of(short_script, " components: ") == 1);
}

TEST_CASE("figures: what a model cannot have is left out, not refused") {
  Result result;
  for (const char* name : {"position_components/cumulative_share", "position_correlation/correlation"}) {
    result.fields.push_back(make_field(name, {}, "1", name, {std::nan("")}));
    result.fields.back().attributes["undefined"] = std::string("no position table");
  }
  const TemporaryFolder folder;
  CHECK(draw_figures(result, folder / "none").empty());
}

TEST_CASE("position correlation: a panel per truncation, a line per layer, nothing beyond the components kept") {
  const Result result = sample::result();
  const Figure figure = kind_of_figure("position_correlation").draw(result, {});
  REQUIRE(figure.panels.size() == 2);
  const auto& found = result.at("position_correlation/correlation").doubles();
  for (std::size_t r = 0; r < 2; ++r) {
    const auto lines = drawn_as(figure.panels[r], "linespoints");
    REQUIRE(lines.size() == 4);  // layers
    for (std::size_t layer = 0; layer < 4; ++layer) {
      const auto correlations = column_of(lines[layer], 1);
      REQUIRE(correlations.size() == (r == 0 ? 4 : 8));
      for (std::size_t c = 0; c < correlations.size(); ++c) CHECK(correlations[c] == found[(layer * 2 + r) * 8 + c]);
      CHECK(column_of(lines[layer], 2).front() == static_cast<double>(layer));  // its colour
    }
  }
  const auto& largest = result.at("position_correlation/chance_largest").doubles();
  const double shuffled = std::max({largest[0], largest[16], largest[32], largest[48]});  // of component 1 in any layer
  CHECK(column_of(drawn_as(figure.panels[0], "filledcurves").front(), 1).front() == shuffled);
  CHECK(figure.script().find("\"top 8 components kept\"") != std::string::npos);
}

TEST_CASE("wave spectra: every frequency but 0, one scale, T as the job says") {
  Result result = sample::result();
  const Figure figure = kind_of_figure("wave_spectra").draw(result, {});
  REQUIRE(figure.panels.size() == 4);
  for (std::size_t layer = 0; layer < 4; ++layer) {
    const auto lines = drawn_as(figure.panels[layer], "lines");
    REQUIRE(lines.size() == 6);
    const auto frequencies = column_of(lines.back(), 0), queries = column_of(lines.back(), 1);
    REQUIRE(frequencies.size() == 256);
    CHECK(frequencies.front() == 1);
    for (std::size_t f = 0; f < 256; f += 19)
      CHECK(queries[f] == result.at("wave_spectra/query").doubles()[layer * 257 + 1 + f]);
  }
  const std::string range = figure.script().substr(figure.script().find("set yrange"));
  CHECK(count_of(figure.script(), range.substr(0, range.find('\n'))) == 4);  // the same for every layer
  CHECK(count_of(figure.script(), "set logscale y") == 4);
  CHECK(figure.script().find("T = 512") != std::string::npos);

  result.provenance["wave_length"] = std::int64_t{513};
  for (const char* of : {"query", "key", "state"})
    values_of(result, std::string("wave_spectra/") + of).assign(4 * 257, 40);
  const std::string flat = kind_of_figure("wave_spectra").draw(result, {}).script();
  CHECK(flat.find("T = 513") != std::string::npos);
  CHECK(count_of(flat, "set logscale y") == 0);
}

TEST_CASE("redefined: the courses of the heads asked for, with column, gain, frequency and offset above them") {
  Result result = sample::result();
  const Figure figure = kind_of_figure("redefined").draw(result, asking_for({"L1H3", "L0H7"}));
  REQUIRE(figure.panels.size() == 2 * 2);
  const auto& query = result.at("redefined/query").doubles();
  const auto& key = result.at("redefined/key").doubles();
  const auto courses = drawn_as(figure.panels.front(), "lines");
  REQUIRE((courses.size() == 2 && courses[0].rows.size() == 64));
  for (std::size_t t = 0; t < 64; t += 7) {  // the first wave of L1H3
    CHECK(column_of(courses[0], 1)[t] == query[11 * 4 * 512 + t]);
    CHECK(column_of(courses[1], 1)[t] == key[11 * 4 * 512 + t]);
  }
  const std::string script = figure.script();
  CHECK(script.find("\"column 2, gain 1.62, f = 48 cycles/T\"") != std::string::npos);
  CHECK(script.find("\"L0H7\"") != std::string::npos);  // noise: without an offset
  CHECK(count_of(script, "\"L1H3, offset ") == (std::isnan(sample::planted_offset(1, 3)) ? 0U : 2U));

  std::fill(values_of(result, "redefined/component").begin(), values_of(result, "redefined/component").end(), NAN);
  CHECK(count_of(kind_of_figure("redefined").draw(result, {}).script(), "\"no further column\"") == 8);
  CHECK_THROWS_WITH(kind_of_figure("redefined").draw(result, asking_for({"L9H9"})), ContainsSubstring("L9H9"));
  CHECK_THROWS_AS(kind_of_figure("redefined").draw(result, asking_for({"9"})), FormatError);
  field_of(result, "redefined/key").axes[3] = counting_axis("position", "token", "", 0, 10);
  values_of(result, "redefined/key").resize(32 * 4 * 11);
  CHECK_THROWS_WITH(kind_of_figure("redefined").draw(result, {}), ContainsSubstring("redefined/key"));
}

TEST_CASE("cross covariance: weighted sum over T and the columns of the largest gains, the maximum at the offset") {
  Result result = sample::result();
  const Figure figure = kind_of_figure("cross_covariance").draw(result, asking_for({"L0H2"}));
  const Panel& above = figure.panels.front();
  const auto& sums = result.at("cross_covariance/weighted_centred").doubles();
  const auto& correlations = result.at("cross_covariance/correlation").doubles();
  const auto lags = column_of(above.series.front(), 0), sum = column_of(above.series.front(), 1);
  REQUIRE((lags.size() == 61 && lags.front() == -30 && above.others.front().series.size() == 4));
  for (std::size_t t = 0; t < lags.size(); ++t) {  // the sample's lags begin at -40
    CHECK(sum[t] == sums[2 * 81 + 10 + t] / 512);
    CHECK(column_of(above.others.front().series[3], 1)[t] == correlations[(2 * 6 + 3) * 81 + 10 + t]);
  }
  REQUIRE(sample::planted_offset(0, 2) == -3);
  CHECK(count_of(figure.script(), "set label \"−3\" at first -3,") == 1);
  const std::string six = kind_of_figure("cross_covariance").draw(result, {}).script();
  CHECK(count_of(six, "set label \"L") == 6);
  CHECK(count_of(six, "point pt 7") == 6);

  field_of(result, "cross_covariance/weighted_centred").attributes.clear();
  const std::string undivided = kind_of_figure("cross_covariance").draw(result, {}).script();
  CHECK(undivided.find("÷ T") == std::string::npos);
  field_of(result, "cross_covariance/correlation").axes[3] = offset_axis("offset", -1, 1);
  values_of(result, "cross_covariance/correlation").resize(32 * 6 * 3);
  CHECK_THROWS_WITH(kind_of_figure("cross_covariance").draw(result, {}),
                    ContainsSubstring("cross_covariance/correlation"));
}

TEST_CASE("cross covariance: lags beyond 30 do not count, a single lag is drawn") {
  Result result = sample::result();
  values_of(result, "cross_covariance/weighted_centred")[0] = 1e9;  // at lag -40
  REQUIRE(sample::planted_offset(0, 0) == -1);
  CHECK(count_of(kind_of_figure("cross_covariance").draw(result, asking_for({"L0H0"})).script(),
                 "\"−1\" at first -1,") == 1);
  result.fields = {
      make_field("cross_covariance/weighted_centred", {layer_axis(1), head_axis(1), offset_axis("offset", 0, 0)}, "1",
                 "", {2.0}),
      make_field("cross_covariance/correlation",
                 {layer_axis(1), head_axis(1), counting_axis("component", "1", "", 1, 1), offset_axis("offset", 0, 0)},
                 "1", "", {1.0})};
  const Figure single = kind_of_figure("cross_covariance").draw(result, {});
  CHECK(single.panels.front().x.range.high == 1);
  CHECK(count_of(single.script(), " point pt ") == 0);  // the same everywhere
}

TEST_CASE("chosen heads: as many as asked for, one of each offset first") {
  const Result result = sample::result();
  const auto two = chosen_heads(result, "redefined/query", {}, 2);
  const auto six = chosen_heads(result, "redefined/query", {}, 6);
  REQUIRE(two.size() == 2);
  REQUIRE(six.size() == 6);
  CHECK(two[0].measured != two[1].measured);
  for (const ChosenHead& head : two)
    CHECK(std::any_of(six.begin(), six.end(), [&](const ChosenHead& other) { return other.name == head.name; }));
  CHECK(chosen_heads(result, "redefined/query", {}, 100).size() == 32);
}
