#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numbers>
#include <set>
#include <sstream>

#include "../../core/errors/error.h"
#include "../../reports/drawing/gnuplot.h"
#include "../../reports/figures/agreement.h"
#include "../../reports/figures/chosen_heads.h"
#include "../../reports/figures/kinds.h"
#include "../../reports/figures/phases.h"
#include "../catch.h"
#include "drawn_figure.h"
#include "sample_result.h"

using namespace headwave;

namespace {

constexpr double pi = std::numbers::pi;

/// The numbers kept beside a figure, cell by cell, without their header.
// Without the header.
std::vector<std::vector<std::string>> numbers_of(const GnuplotFigure& figure) {
  auto rows = rows_of(figure);
  rows.erase(rows.begin());
  return rows;
}

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
  CHECK_THROWS_AS(chosen_heads(result, "phase_spectrum/query", asking_for({"L9H0"})), ShapeError);
  CHECK_THROWS_WITH(chosen_heads(result, "phase_spectrum/query", asking_for({"L9H0"})),
                    ContainsSubstring("L9H0") && ContainsSubstring("L0H0 to L3H7"));
  CHECK_THROWS_AS(chosen_heads(result, "phase_spectrum/query", asking_for({"9"})), FormatError);
}

TEST_CASE("frequencies: their axis has to count, and to fit T") {
  Field field = make_field("x/y", {counting_axis("frequency", "cycles/T", "", 0, 4)}, "1", "", {0, 1, 2, 3, 4});
  CHECK(frequency_span(field, "length").length == 8);
  field.attributes["length"] = std::int64_t{9};
  CHECK(frequency_span(field, "length").length == 9);
  CHECK(frequency_span(field, "T").length == 8);
  field.attributes["length"] = std::int64_t{12};
  CHECK_THROWS_AS(frequency_span(field, "length"), ShapeError);
  field.axes[0] = counting_axis("frequency", "cycles/T", "", 1, 5);
  CHECK_THROWS_AS(frequency_span(field, "T"), ShapeError);
}

TEST_CASE("frequencies: shown are a tenth more than the loud ones, at least T/8, at most all") {
  std::vector<double> curve(257, 0.005);
  curve[0] = 1e6;
  curve[40] = 1;
  curve[100] = 0.02;
  CHECK(last_loud(curve, 0.01) == 100);
  CHECK(last_loud(curve, 0.5) == 40);
  CHECK(last_loud({1, 0, 0, std::nan("")}, 0.01) == 0);
  CHECK(last_shown({257, 512}, 100) == 110);
  CHECK(last_shown({257, 512}, 3) == 64);
  CHECK(last_shown({257, 512}, 250) == 256);
  CHECK(last_shown({1, 1}, 0) == 2);
}

TEST_CASE("phase ridges: where they run and leave, by hand") {
  const auto ridges = phase_ridges({0.5, 100, 512}, -1, 0.1);
  REQUIRE(ridges.size() == 6);
  for (const PhaseRidge& ridge : ridges) {
    CHECK(ridge.measured == (ridge.delta == 1));
    CHECK(ridge.labelled);
    const bool steep = std::abs(ridge.delta) == 3;  // pi at f = 512 / 6
    CHECK((ridge.leaves == Leaves::right) == !steep);
    CHECK(ridge.frequency == Approx(steep ? 512.0 / 6 : 100));
    CHECK(ridge.phase == Approx(2 * pi * ridge.delta * ridge.frequency / 512));
    CHECK(ridge.line.rows().size() == (steep ? 5U : 2U));
    for (const auto& row : ridge.line.rows()) {
      const double f = std::get<double>(row[0]), phase = std::get<double>(row[1]);
      if (std::isnan(f)) continue;
      const double turns = (2 * pi * ridge.delta * f / 512 - phase) / (2 * pi);
      CHECK(std::abs(turns - std::round(turns)) < 1e-12);
      CHECK(std::abs(phase) < pi + 1e-12);
    }
  }
  CHECK(ridges.back().leaves == Leaves::above);
  CHECK(ridges.front().leaves == Leaves::below);
}

TEST_CASE("phase ridges: one of its own for a measured offset farther off, whose label comes first") {
  const auto ridges = phase_ridges({0.5, 257, 512}, -4, 0.15);
  REQUIRE(ridges.size() == 7);
  CHECK(ridges.back().delta == 4);
  CHECK(ridges.back().measured);
  for (const PhaseRidge& ridge : ridges) CHECK(ridge.labelled == (ridge.delta != 3));
  for (const double none : {std::nan(""), 0.0, 17.0, 1e300, HUGE_VAL})
    CHECK(phase_ridges({0.5, 257, 512}, none, 0.15).size() == 6);
}

TEST_CASE("phase spectrum: the loudest cell of a head lies on its ridge") {
  const Result result = sample::result({.bits = false});
  const auto rows = numbers_of(phase_spectrum_figure().draw(result, {}));
  std::map<std::string, std::array<double, 4>> loudest;  // frequency, phase, amplitude, offset
  for (const auto& row : rows) {
    auto& best = loudest[row[0] + "," + row[1] + "," + row[2]];
    if (std::stod(row[5]) > best[2])
      best = {std::stod(row[3]), std::stod(row[4]), std::stod(row[5]),
              sample::planted_offset(std::stol(row[0]), std::stol(row[1]))};
  }
  REQUIRE(loudest.size() == 8);
  for (const auto& [name, best] : loudest) {
    INFO(name);
    CHECK(best[0] == Approx(512.0 / 15).margin(0.6));
    CHECK(std::abs(std::remainder(best[1] + 2 * pi * best[0] * best[3] / 512, 2 * pi)) <= pi / 16 + 1e-9);
  }
}

TEST_CASE("phase spectrum: keys are drawn where those of a head differ from its queries, and kept in any case") {
  Result result = sample::result();
  std::vector<double>& keys = std::get<std::vector<double>>(field_of(result, "phase_spectrum/key").values);
  keys = result.at("phase_spectrum/query").doubles();
  const PhaseMaps same = phase_maps(result, {2});
  CHECK(map_difference(same, 2) == 0);
  const GnuplotFigure queries = phase_spectrum_figure().draw(result, asking_for({"L0H2", "L0H3"}));
  CHECK(count_of(queries.script(), "with image") == 2);
  CHECK(count_of(queries.script(), "\nset colorbox") == 2);
  CHECK(count_of(queries.script(), "\"Q p; K p within 0 %\"") == 2);
  std::set<std::string> sides;
  for (const auto& row : numbers_of(queries)) sides.insert(row[2]);
  CHECK(sides == std::set<std::string>{"query", "key"});

  const auto cells = static_cast<std::ptrdiff_t>(keys.size() / 32);
  std::for_each(keys.begin() + 3 * cells, keys.begin() + 4 * cells, [](double& amplitude) { amplitude *= 1.25; });
  CHECK(map_difference(phase_maps(result, {3}), 3) == Approx(0.2));
  CHECK(count_of(phase_spectrum_figure().draw(result, asking_for({"L0H2", "L0H3"})).script(), "with image") == 4);
  CHECK(count_of(phase_spectrum_figure().draw(result, asking_for({"L0H2"})).script(), "with image") == 1);
}

TEST_CASE("phase spectrum: each head has one scale, its ridges and the measured one in bold") {
  Result other_keys = sample::result();
  for (double& amplitude : std::get<std::vector<double>>(field_of(other_keys, "phase_spectrum/key").values))
    amplitude *= 0.5;
  const std::string script = phase_spectrum_figure().draw(other_keys, asking_for({"L0H2", "L0H6"})).script();
  CHECK(count_of(script, "with image") == 4);
  CHECK(count_of(script, "\nset colorbox") == 2);
  CHECK(count_of(script, "measured offset t = −3") == 1);
  CHECK(count_of(script, "no measured offset") == 1);
  CHECK(count_of(script, "set label \"t* = ") == 4 * 6);
  CHECK(count_of(script, "font \"sans-serif:Bold,6.00\"") == 2);
}

TEST_CASE("phase maps: many frequencies share cells that show the largest") {
  sample::Size size;
  size.layers = 1;
  size.heads = 2;
  size.length = 4096;
  Result result = sample::result(size);
  const PhaseMaps maps = phase_maps(result, {0});
  CHECK(maps.last == 512);
  CHECK(maps.step == 2);
  CHECK(maps.columns() == 256);
  CHECK(maps.frequency(0) == 1.5);
  for (const std::size_t phase : {0U, 7U, 8U})
    CHECK(maps.cell(0, 1, 136, phase) == std::max(maps.at(0, 1, 273, phase), maps.at(0, 1, 274, phase)));
  field_of(result, "phase_spectrum/query").axes[3].values = std::vector<double>(16, 0.5);
  CHECK_THROWS_AS(phase_maps(result, {0}), ShapeError);
}

TEST_CASE("phases: documents of a few tokens are drawn") {
  if (!sample::can_draw()) return;
  const TemporaryFolder folder;
  for (const Index length : {1, 2, 3, 5}) {
    const Result result = tiny(length);
    INFO(length);
    CHECK(phase_spectrum_figure().draw(result, {}).write(folder.path(), "phase", {"svg"}).size() == 1);
    CHECK(position_split_figure().draw(result, {}).write(folder.path(), "split", {"svg"}).size() == 1);
  }
}

TEST_CASE("offset place: even about 0, logarithmic further out") {
  CHECK(offset_place(0) == 0);
  CHECK(offset_place(1) == 1);
  CHECK(offset_place(-3) == -2);
  CHECK(offset_place(63) == 6);
  for (double t = -20; t < 20; t += 0.25) CHECK(offset_place(t) < offset_place(t + 0.25));
}

TEST_CASE("agreement: every head with both offsets is in one dot, and no two dots cover each other") {
  for (const char* prediction : {"weights", "phases", "scores"}) {
    const auto heads = agreement_heads(sample::result(), prediction);
    REQUIRE(heads.size() == 32);
    const auto dots = agreement_dots(heads, 0.3);
    std::set<std::pair<Index, Index>> seen;
    std::size_t both = 0;
    for (const AgreementHead& head : heads) both += head.has_both() ? 1 : 0;
    for (const AgreementDot& dot : dots)
      for (const HeadName& head : dot.heads) CHECK(seen.insert({head.layer, head.head}).second);
    CHECK(seen.size() == both);
    for (std::size_t a = 0; a < dots.size(); ++a)
      for (std::size_t b = 0; b < a; ++b)
        CHECK(std::hypot(dots[a].x - dots[b].x, dots[a].y - dots[b].y) >= 0.48 * (dots[a].size + dots[b].size) - 1e-12);
  }
}

TEST_CASE("agreement: heads in one place share a dot, by hand") {
  const double none = std::nan("");
  const std::vector<AgreementHead> heads{{{0, 0}, -1, -1.00, -1.2, -0.8, "agrees"},
                                         {{0, 1}, -1, -1.01, -1.4, -0.9, "agrees"},
                                         {{0, 2}, -1, 4.00, none, none, "differs"},
                                         {{0, 3}, none, 4.00, none, none, "unrealised"}};
  const auto dots = agreement_dots(heads, 0.3);
  REQUIRE(dots.size() == 2);
  CHECK(dots[0].heads == std::vector<HeadName>{{0, 1}, {0, 0}});
  CHECK(dots[0].lower == -1.4);
  CHECK(dots[0].upper == -0.8);
  CHECK(dots[0].x == Approx(-0.3));
  CHECK(dots[0].y == Approx(-0.15 * (offset_place(1.0) + offset_place(1.01))));
  CHECK(dots[0].agrees);
  CHECK_FALSE(dots[1].agrees);
  CHECK(std::isnan(dots[1].lower));
}

TEST_CASE("agreement: heads without a dot are counted above the panel") {
  const Result result = sample::result();
  const std::string script = offset_agreement_figure().draw(result, {}).script();
  for (const char* prediction : {"weights", "phases", "scores"}) {
    std::map<std::string, int> verdicts;
    int on_0 = 0;
    for (const AgreementHead& head : agreement_heads(result, prediction)) {
      ++verdicts[head.verdict];
      if (head.verdict == "agrees" && head.measured == 0) ++on_0;
    }
    INFO(prediction);
    CHECK(script.find("\"" + std::to_string(verdicts["agrees"] - on_0) + " agree\"") != std::string::npos);
    CHECK(script.find("\"" + std::to_string(on_0) + " agree on 0\"") != std::string::npos);
    CHECK(script.find(std::to_string(verdicts["differs"]) + " differ\"") != std::string::npos);
    CHECK(script.find("not predicted: " + std::to_string(verdicts["unpredicted"]) +
                      ", not measured: " + std::to_string(verdicts["unrealised"]) +
                      ", neither: " + std::to_string(verdicts["undefined"])) != std::string::npos);
  }
  CHECK(numbers_of(offset_agreement_figure().draw(result, {})).size() == 3 * 32);
}

TEST_CASE("agreement: names of heads that differ touch no dot, no other name and not the edge") {
  std::vector<AgreementDot> dots;
  for (int i = 0; i < 40; ++i) {
    AgreementDot dot;
    dot.heads = {{10, i}};
    dot.measured = 0;
    dot.predicted = 1 + i;
    dot.x = -0.7 + 0.22 * (i % 7);
    dot.y = -0.8 + 0.3 * (i / 7);
    dot.size = 0.06;
    dot.agrees = i % 3 == 2;
    dots.push_back(dot);
  }
  constexpr double half = 1.0, high = 6.0 / 72;
  const auto names = dot_names(dots, half);
  REQUIRE_FALSE(names.empty());
  CHECK(names.size() <= 8);
  const auto width = [&](const DotName& name) { return (dots[name.dot].heads[0].head < 10 ? 5 : 6) * 0.6 * high; };
  for (std::size_t a = 0; a < names.size(); ++a) {
    const DotName& name = names[a];
    CHECK_FALSE(dots[name.dot].agrees);
    CHECK(name.left > -half);
    CHECK(name.left + width(name) < half);
    const auto is_apart = [&](double left, double right, double middle, double height) {
      return left >= name.left + width(name) || right <= name.left ||
             std::abs(name.middle - middle) >= (high + height) / 2 - 1e-9;
    };
    for (std::size_t b = 0; b < a; ++b)
      CHECK(is_apart(names[b].left, names[b].left + width(names[b]), names[b].middle, high));
    for (const AgreementDot& dot : dots) CHECK(is_apart(dot.x - 0.03, dot.x + 0.03, dot.y, 0.06));
  }
  CHECK(dot_names({}, half).empty());
}

TEST_CASE("position split: bars are drawn from the numbers beside them") {
  const auto rows = numbers_of(position_split_figure().draw(sample::result(), {}));
  REQUIRE(rows.size() == 4 * (3 + 1));
  CHECK(rows[0] == std::vector<std::string>{"0", "position", "0.6"});
  CHECK(rows.back()[1] == "noise");
}

TEST_CASE("head types: an older result, which says positional, is drawn as one of today") {
  Result result = sample::result();
  const auto rows = numbers_of(head_types_figure().draw(result, {}));
  field_of(result, "head_types/kind").flag_meanings[3] = "positional";
  CHECK(numbers_of(head_types_figure().draw(result, {})) == rows);
}

TEST_CASE("head types: every score of every head, and which of them it is called by") {
  const Result result = sample::result();
  const GnuplotFigure figure = head_types_figure().draw(result, {});
  const auto rows = numbers_of(figure);
  const std::array kinds{"previous", "next", "one offset (Voita)", "duplicate", "induction", "sink"};
  const std::array scores{"previous", "next", "positional_share", "duplicate", "induction", "sink_weight"};
  REQUIRE(rows.size() == kinds.size() * 32);
  for (std::size_t r = 0; r < rows.size(); ++r) {
    const std::size_t kind = r / 32, head = r % 32;
    CHECK(rows[r][2] == kinds[kind]);
    CHECK(std::stod(rows[r][3]) == result.at(std::string("head_types/") + scores[kind]).doubles()[head]);
    CHECK(rows[r][4] == (head % 7 == kind + 1 ? "1" : "0"));  // the sample's kinds by turns, "other" first
    CHECK(rows[r][5] == (kind == 2 ? "-3" : "NaN"));
  }
  const std::string& script = figure.script();
  CHECK(count_of(script, "with image") == 6);
  CHECK(count_of(script, "\nset cbrange [0:") == 6);
  const std::string range = script.substr(script.find("\nset cbrange"));
  CHECK(count_of(script, range.substr(0, range.find('\n', 1))) == 6);  // one scale
  CHECK(count_of(script, "\nset colorbox") == 1);
  CHECK(script.find("\"4 so called\"") != std::string::npos);
  CHECK(count_of(script, "fs empty") == 6);
  FigureOptions narrow;
  narrow.style.width = 2;
  CHECK(count_of(head_types_figure().draw(result, narrow).script(), "fs empty") == 0);  // a dot in its place
}

TEST_CASE("head types: a score that no head can have is said to be undefined") {
  Result result = sample::result();
  auto& next = std::get<std::vector<double>>(field_of(result, "head_types/next").values);
  std::fill(next.begin(), next.end(), std::nan(""));
  CHECK(count_of(head_types_figure().draw(result, {}).script(), "\"undefined\"") == 1);
}

TEST_CASE("head types: a score that rounds to 1 is as broad as others") {
  Result result = sample::result();
  values_of(result, "head_types/next").at(1) = 0.997;
  const TemporaryFolder folder;
  head_types_figure().draw(result, {}).write(folder.path(), "types", {"svg"});
  const std::string svg = sample::content_of(folder / "types.svg");
  CHECK(count_of(svg, ">1.0<") == 1);
  CHECK(count_of(svg, ">1.00<") == 0);
}

TEST_CASE("head types: of too few documents the figure says so, in place of how many are so called") {
  Result result = sample::result();
  Field& kind = field_of(result, "head_types/kind");
  kind.flag_meanings.emplace_back("undefined");
  for (std::uint8_t& each : std::get<std::vector<std::uint8_t>>(kind.values)) each = 7;
  const std::string script = head_types_figure().draw(result, {}).script();
  CHECK(count_of(script, "too few documents") == 6);
  CHECK(count_of(script, "so called") == 0);
}

TEST_CASE("head types: a kind that is not known, or a value without a kind, is refused by name") {
  Result result = sample::result();
  field_of(result, "head_types/kind").flag_meanings[2] = "\x1b[31mnew";
  CHECK_THROWS_WITH(head_types_figure().draw(result, {}), ContainsSubstring("\\u001b[31mnew"));
  result = sample::result();
  field_of(result, "head_types/kind").flag_meanings.resize(3);
  CHECK_THROWS_AS(head_types_figure().draw(result, {}), ShapeError);
}
