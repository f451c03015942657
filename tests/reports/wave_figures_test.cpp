#include <algorithm>
#include <cmath>
#include <numeric>
#include <sstream>

#include "../../reports/drawing/gnuplot.h"
#include "../../reports/figures/chosen_heads.h"
#include "../../reports/figures/clusters.h"
#include "../../reports/figures/figures.h"
#include "../../reports/figures/kinds.h"
#include "../../reports/figures/waves.h"
#include "../catch.h"
#include "drawn_figure.h"
#include "sample_result.h"

using namespace headwave;

TEST_CASE("position components: the shares in per cent, those of 4 and 12 written beside the curve") {
  Result result = sample::result();
  const auto rows = rows_of(position_components_figure().draw(result, {}));
  const auto& shares = result.at("position_components/cumulative_share").doubles();
  REQUIRE(rows.size() == 1 + shares.size());
  CHECK(rows[4][0] == "4");
  CHECK(number(rows[4][1]) == shares[3]);
  CHECK(number(rows[4][2]) == 100 * shares[3]);
  const std::string script = position_components_figure().draw(result, {}).script();
  CHECK(script.find("\"4 components: 49.4 %\"") != std::string::npos);
  CHECK(script.find("\"12 components: 87.0 %\" at first 12,") != std::string::npos);
  FigureOptions column;  // where that does not fit right of its dot, it ends before the frame
  column.style.width = 3.4;
  CHECK_THAT(position_components_figure().draw(result, column).script(),
             ContainsSubstring("\"12 components: 87.0 %\" at graph 0.98"));

  Field& few = field_of(result, "position_components/cumulative_share");
  few.axes[0] = counting_axis("component", "1", "", 1, 5);
  values_of(result, few.name).resize(5);
  const std::string short_script = position_components_figure().draw(result, {}).script();
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
  const GnuplotFigure figure = position_correlation_figure().draw(result, {});
  const auto rows = rows_of(figure);
  REQUIRE(rows.size() == 1 + 4 * (4 + 8));  // layers * components
  const auto& found = result.at("position_correlation/correlation").doubles();
  const auto& largest = result.at("position_correlation/chance_largest").doubles();
  for (std::size_t r = 1; r < rows.size(); ++r) {
    const auto truncation = rows[r][0] == "8" ? 1U : 0U;
    const auto at = (static_cast<std::size_t>(std::stol(rows[r][1])) * 2 + truncation) * 8 +
                    static_cast<std::size_t>(std::stol(rows[r][2])) - 1;
    CHECK(number(rows[r][3]) == found[at]);
    CHECK(number(rows[r][5]) == largest[at]);
  }
  CHECK(count_of(figure.script(), "with linespoints lc palette") == 2 * 4);
  CHECK(count_of(figure.script(), "with filledcurves") == 2);
  CHECK(figure.script().find("\"top 8 components kept\"") != std::string::npos);
}

TEST_CASE("wave spectra: every frequency but 0, one scale, T as the job says") {
  Result result = sample::result();
  const GnuplotFigure figure = wave_spectra_figure().draw(result, {});
  const auto rows = rows_of(figure);
  REQUIRE(rows.size() == 1 + 4 * 256);
  for (std::size_t c = 2; c < rows[0].size(); ++c) {
    const auto& amplitudes = result.at("wave_spectra/" + rows[0][c]).doubles();
    for (std::size_t r = 1; r < rows.size(); r += 19)
      CHECK(number(rows[r][c]) ==
            amplitudes[static_cast<std::size_t>(std::stol(rows[r][0]) * 257 + std::stol(rows[r][1]))]);
  }
  CHECK(rows[1][1] == "1");
  const std::string range = figure.script().substr(figure.script().find("set yrange"));
  CHECK(count_of(figure.script(), range.substr(0, range.find('\n'))) == 4);  // the same for every layer
  CHECK(count_of(figure.script(), "set logscale y") == 4);
  CHECK(figure.script().find("T = 512") != std::string::npos);

  result.provenance["wave_length"] = std::int64_t{513};
  for (const char* of : {"query", "key", "state"})
    values_of(result, std::string("wave_spectra/") + of).assign(4 * 257, 40);
  const std::string flat = wave_spectra_figure().draw(result, {}).script();
  CHECK(flat.find("T = 513") != std::string::npos);
  CHECK(count_of(flat, "set logscale y") == 0);
}

TEST_CASE("redefined: the courses of the heads asked for, with column, gain, frequency and offset above them") {
  Result result = sample::result();
  const GnuplotFigure figure = redefined_figure().draw(result, asking_for({"L1H3", "L0H7"}));
  const auto rows = rows_of(figure);
  REQUIRE(rows.size() == 1 + 2 * 2 * 64);  // heads * waves * positions
  const auto& query = result.at("redefined/query").doubles();
  const auto& key = result.at("redefined/key").doubles();
  for (std::size_t r = 1; r < rows.size(); r += 7) {
    const auto head = static_cast<std::size_t>(std::stol(rows[r][0]) * 8 + std::stol(rows[r][1]));
    const auto wave = static_cast<std::size_t>(std::stol(rows[r][2])) - 2;  // the sample counts columns from 2
    const auto at = (head * 4 + wave) * 512 + static_cast<std::size_t>(std::stol(rows[r][3]));
    CHECK(number(rows[r][4]) == query[at]);
    CHECK(number(rows[r][5]) == key[at]);
  }
  CHECK(rows[1][0] + rows[1][1] == "13");
  const std::string& script = figure.script();
  CHECK(script.find("\"column 2, gain 1.62, f = 48 cycles/T\"") != std::string::npos);
  CHECK(script.find("\"L0H7\"") != std::string::npos);  // noise: without an offset
  CHECK(count_of(script, "\"L1H3, offset ") == (std::isnan(sample::planted_offset(1, 3)) ? 0U : 2U));

  std::fill(values_of(result, "redefined/component").begin(), values_of(result, "redefined/component").end(), NAN);
  CHECK(count_of(redefined_figure().draw(result, {}).script(), "\"no further column\"") == 8);
  CHECK_THROWS_WITH(redefined_figure().draw(result, asking_for({"L9H9"})), ContainsSubstring("L9H9"));
  CHECK_THROWS_AS(redefined_figure().draw(result, asking_for({"9"})), FormatError);
  field_of(result, "redefined/key").axes[3] = counting_axis("position", "token", "", 0, 10);
  values_of(result, "redefined/key").resize(32 * 4 * 11);
  CHECK_THROWS_AS(redefined_figure().draw(result, {}), ShapeError);
}

TEST_CASE("cross covariance: weighted sum over T and the columns of the largest gains, the maximum at the offset") {
  Result result = sample::result();
  const GnuplotFigure figure = cross_covariance_figure().draw(result, asking_for({"L0H2"}));
  const auto rows = rows_of(figure);
  REQUIRE(rows.size() == 1 + 61);
  CHECK(rows[0] == std::vector<std::string>{"layer", "head", "offset", "weighted_centred", "weighted_centred_by_T",
                                            "correlation_1", "correlation_2", "correlation_3", "correlation_4"});
  const auto& sums = result.at("cross_covariance/weighted_centred").doubles();
  const auto& correlations = result.at("cross_covariance/correlation").doubles();
  for (std::size_t r = 1; r < rows.size(); ++r) {
    const auto lag = r - 1 + 10;  // the sample's lags begin at -40
    CHECK(number(rows[r][3]) == sums[2 * 81 + lag]);
    CHECK(number(rows[r][4]) == sums[2 * 81 + lag] / 512);
    CHECK(number(rows[r][8]) == correlations[(2 * 6 + 3) * 81 + lag]);
  }
  REQUIRE(sample::planted_offset(0, 2) == -3);
  CHECK(count_of(figure.script(), "set label \"−3\" at first -3,") == 1);
  const std::string six = cross_covariance_figure().draw(result, {}).script();
  CHECK(count_of(six, "set label \"L") == 6);
  CHECK(count_of(six, "point pt 7") == 6);

  field_of(result, "cross_covariance/weighted_centred").attributes.clear();
  const std::string undivided = cross_covariance_figure().draw(result, {}).script();
  CHECK(undivided.find("÷ T") == std::string::npos);
  field_of(result, "cross_covariance/correlation").axes[3] = offset_axis("offset", -1, 1);
  values_of(result, "cross_covariance/correlation").resize(32 * 6 * 3);
  CHECK_THROWS_AS(cross_covariance_figure().draw(result, {}), ShapeError);
}

TEST_CASE("weighted sums: lags beyond 30 do not count, a single lag is drawn") {
  Result result = sample::result();
  values_of(result, "cross_covariance/weighted_centred")[0] = 1e9;  // at lag -40
  WeightedSums sums = weighted_sums(result);
  CHECK(sums.reach() == 30);
  CHECK(sums.lags[sums.peak(0)] == sample::planted_offset(0, 0));
  CHECK(sums.length == 512);
  result.fields = {make_field("cross_covariance/weighted_centred",
                              {layer_axis(1), head_axis(1), offset_axis("offset", 0, 0)}, "1", "", {2.0})};
  sums = weighted_sums(result);
  CHECK(sums.reach() == 1);
  CHECK(sums.peak(0) == 1);  // the same everywhere
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
