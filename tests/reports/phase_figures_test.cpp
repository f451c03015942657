#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numbers>
#include <set>
#include <sstream>

#include "../../core/errors/error.h"
#include "../../core/fields/field_reader.h"
#include "../../core/fields/fields.h"
#include "../../reports/figures/chosen_heads.h"
#include "../catch.h"
#include "drawn_figure.h"
#include "sample_result.h"

using namespace headwave;

namespace {

constexpr double pi = std::numbers::pi;

/// Everything that one head of one document of T tokens can have.
Result tiny(Index length) {
  sample::Size size;
  size.layers = 1;
  size.heads = 2;
  size.length = length;
  size.tokens = 2;
  return sample::result(size);
}

}  // namespace

TEST_CASE("chosen heads: unasked four of different offsets, layer by layer") {
  const Result result = sample::result({.bits = false});
  const auto heads = chosen_heads(result, "phase_spectrum/query", {});
  REQUIRE(heads.size() == 4);
  std::set<double> offsets;
  for (std::size_t k = 0; k < heads.size(); ++k) {
    CHECK(heads[k].measured == sample::planted_offset(heads[k].name.layer, heads[k].name.head));
    CHECK(heads[k].row == static_cast<std::size_t>(heads[k].name.layer * 8 + heads[k].name.head));
    offsets.insert(heads[k].measured);
    if (k > 0) CHECK(heads[k].row > heads[k - 1].row);
  }
  CHECK(offsets == std::set<double>{-3, -1, 1, 3});  // the sharp ones
}

TEST_CASE("chosen heads: those asked for in the order asked, others are refused by name") {
  const Result result = sample::result();
  const auto heads = chosen_heads(result, "phase_spectrum/query", asking_for({"L2H7", "L0H0"}));
  REQUIRE(heads.size() == 2);
  CHECK(heads[0].name == HeadName{2, 7});
  CHECK(heads[1].measured == -1);
  CHECK_THROWS_WITH(chosen_heads(result, "phase_spectrum/query", asking_for({"L9H0"})),
                    ContainsSubstring("L9H0") && ContainsSubstring("L0H0 to L3H7"));
  CHECK_THROWS_AS(chosen_heads(result, "phase_spectrum/query", asking_for({"9"})), FormatError);
}

TEST_CASE("phase spectrum: frequencies have to count from 0") {
  Result result = tiny(8);
  Field& queries = field_of(result, "phase_spectrum/query");
  queries.attributes["length"] = std::int64_t{9};
  CHECK_NOTHROW(kind_of_figure("phase_spectrum").draw(result, {}));
  queries.axes[2] = counting_axis("frequency", "cycles/T", "", 1, 5);
  CHECK_THROWS_WITH(kind_of_figure("phase_spectrum").draw(result, {}),
                    ContainsSubstring("phase_spectrum/query: expected the freq"));
}

TEST_CASE("phase spectrum: the loudest cell of a head lies on its ridge, and every ridge on its delay") {
  const Result result = sample::result({.bits = false});
  const auto heads = chosen_heads(result, "phase_spectrum/query", {});
  const Figure figure = kind_of_figure("phase_spectrum").draw(result, {});
  const std::size_t sides = figure.panels.size() / heads.size();
  for (std::size_t k = 0; k < figure.panels.size(); ++k) {
    const ChosenHead& head = heads[k / sides];
    INFO(head.text());
    const Series cells = drawn_as(figure.panels[k], "image").front();
    const auto amplitudes = column_of(cells, 2);
    const auto loudest = static_cast<std::size_t>(std::ranges::max_element(amplitudes) - amplitudes.begin());
    const double f = column_of(cells, 0)[loudest], phase = column_of(cells, 1)[loudest];
    CHECK(f == Approx(512.0 / 15).margin(1));
    CHECK(std::abs(std::remainder(phase + 2 * pi * f * head.measured / 512, 2 * pi)) <=
          pi / 8);  // the pixels of a bin are half as high
    const auto ridges = drawn_as(figure.panels[k], "lines");
    REQUIRE(ridges.size() == 6);
    for (std::size_t r = 0; r < ridges.size(); ++r) {
      const double delta = std::array{-3, -2, -1, 1, 2, 3}[r];
      const auto fs = column_of(ridges[r], 0), phases = column_of(ridges[r], 1);
      for (std::size_t i = 0; i < fs.size(); ++i) {
        if (std::isnan(fs[i])) continue;
        const double turns = (2 * pi * delta * fs[i] / 512 - phases[i]) / (2 * pi);
        CHECK(std::abs(turns - std::round(turns)) < 1e-12);
        CHECK(std::abs(phases[i]) < pi + 1e-12);
      }
    }
  }
}

TEST_CASE("phase spectrum: a measured offset farther off has a ridge of its own") {
  Result result = sample::result();
  for (const auto& [offset, ridges] :
       {std::pair(-4.0, 7U), {std::nan(""), 6U}, {0.0, 6U}, {17.0, 6U}, {HUGE_VAL, 6U}}) {
    std::ranges::fill(values_of(result, "measured_offset/offset"), offset);
    CHECK(count_drawn(kind_of_figure("phase_spectrum").draw(result, asking_for({"L0H2"})), "lines") == ridges);
  }
}

TEST_CASE("phase spectrum: keys are drawn where those of a head differ from its queries") {
  Result result = sample::result();
  std::vector<double>& keys = std::get<std::vector<double>>(field_of(result, "phase_spectrum/key").values);
  keys = result.at("phase_spectrum/query").doubles();
  const Figure queries = kind_of_figure("phase_spectrum").draw(result, asking_for({"L0H2", "L0H3"}));
  CHECK(count_drawn(queries, "image") == 2);
  CHECK(count_of(queries.script(), "\nset colorbox") == 2);
  CHECK(count_of(queries.script(), "\"Q p; K p within 0 %\"") == 2);
  const auto cells = static_cast<std::ptrdiff_t>(keys.size() / 32);
  std::for_each(keys.begin() + 3 * cells, keys.begin() + 4 * cells, [](double& amplitude) { amplitude *= 1.25; });
  CHECK(count_drawn(kind_of_figure("phase_spectrum").draw(result, asking_for({"L0H2", "L0H3"})), "image") == 4);
  CHECK(count_drawn(kind_of_figure("phase_spectrum").draw(result, asking_for({"L0H2"})), "image") == 1);
}

TEST_CASE("phase spectrum: each head has one scale, its ridges and the measured one in bold") {
  Result other_keys = sample::result();
  for (double& amplitude : std::get<std::vector<double>>(field_of(other_keys, "phase_spectrum/key").values))
    amplitude *= 0.5;
  const Figure figure = kind_of_figure("phase_spectrum").draw(other_keys, asking_for({"L0H2", "L0H6"}));
  const std::string script = figure.script();
  CHECK(count_drawn(figure, "image") == 4);
  CHECK(count_of(script, "\nset colorbox") == 2);
  CHECK(count_of(script, "measured offset t = −3") == 1);
  CHECK(count_of(script, "no measured offset") == 1);
  CHECK(count_of(script, "set label \"t* = ") == 4 * 6);
  CHECK(count_of(script, "font \"sans-serif:Bold,6.00\"") == 2);
}

TEST_CASE("phase spectrum: frequencies up to an eighth of T, or a tenth beyond the loud ones") {
  sample::Size size;
  size.layers = 1;
  size.heads = 2;
  size.length = 4096;
  const Figure figure = kind_of_figure("phase_spectrum").draw(sample::result(size), asking_for({"L0H1"}));
  CHECK(figure.panels.front().x.range.high == 512.5);  // T/8, since nothing beyond is loud
}

TEST_CASE("phases: documents of a few tokens are drawn") {
  if (!sample::can_draw()) return;
  for (const Index length : {1, 2, 3, 5}) {
    const Result result = tiny(length);
    INFO(length);
    CHECK(kind_of_figure("phase_spectrum").draw(result, {}).drawn("phase", {"svg"}).size() == 1);
  }
}
