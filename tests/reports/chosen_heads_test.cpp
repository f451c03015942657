#include "../../reports/figures/chosen_heads.h"

#include <algorithm>
#include <functional>

#include "../../core/errors/error.h"
#include "../../reports/figures/figures.h"
#include "../../reports/tables/head_table.h"
#include "../catch.h"
#include "drawn_figure.h"
#include "sample_result.h"

using namespace headwave;

TEST_CASE("heads: what a result knows nothing of is refused, whichever Fields it has") {
  Result result;
  CHECK(heads_asked_for(result, {}).empty());
  CHECK_THROWS_WITH(heads_asked_for(result, {"L0H0"}), "there is no L0H0; the result has no heads");
  result.fields.push_back(
      make_field("a/x", {layer_axis(6), head_axis(12)}, "1", "x", std::vector<double>(static_cast<std::size_t>(72))));
  CHECK(heads_asked_for(result, {"L5H11", "L0H0", "L5H11"}) == std::vector<std::string>{"L5H11", "L0H0"});
  CHECK_THROWS_WITH(heads_asked_for(result, {"L0H0", "L9H9"}), "there is no L9H9; the result has L0H0 to L5H11");
  CHECK_THROWS_WITH(heads_asked_for(result, {"L2H99"}), ContainsSubstring("there is no L2H99"));
  CHECK_THROWS_AS(heads_asked_for(result, {"L2"}), FormatError);
}

TEST_CASE("heads: layers may be missing") {
  Result result;
  const Axis layers = layer_axis(std::vector<Index>{1, 3});
  result.fields.push_back(make_field("a/x", {layers, head_axis(2)}, "1", "x", {1, 2, 3, 4}));
  CHECK_THROWS_WITH(heads_asked_for(result, {"L2H0"}), "there is no L2H0; the result has L1H0 to L3H1");
}

TEST_CASE("heads: the strongest are those that the table lists first, each head once, and all where there are fewer") {
  const Result result = sample::result();
  const std::vector<std::string> table = shown_columns(result, {.all = true})[0].cells;
  REQUIRE(table.size() > 3);
  CHECK(heads_asked_for(result, {"strongest:3"}) == std::vector<std::string>(table.begin(), table.begin() + 3));
  CHECK(heads_asked_for(result, {"strongest:1000"}) == table);
  CHECK(heads_asked_for(result, {table[3], "strongest:2", table[0]}) ==
        std::vector<std::string>{table[3], table[0], table[1]});
  for (const char* invalid :
       {"strongest:0", "strongest:", "strongest:-1", "strongest:6x", "strongest:99999999999999999999"})
    CHECK_THROWS_WITH(heads_asked_for(result, {invalid}), ContainsSubstring("expected strongest:N"));
  CHECK_THROWS_AS(heads_asked_for(result, {"strongest"}), FormatError);
  Result atlas;
  atlas.fields.push_back(make_field("a/x", {layer_axis(1), head_axis(1)}, "1", "x", {1}));
  CHECK_THROWS_WITH(heads_asked_for(atlas, {"strongest:1"}), ContainsSubstring("need measured or predicted offsets"));
}

TEST_CASE("heads: those that a figure chooses stand by strength, in grids of some heads, too") {
  Result result = sample::result({.layers = 6, .heads = 12, .bits = false});
  auto& strengths = values_of(result, "head_account/strength");
  for (std::size_t head = 0; head < strengths.size(); ++head) strengths[head] = 0.01 * static_cast<double>(head);
  const auto strength = [&](const ChosenHead& head) { return strengths[head.row]; };
  const std::vector<ChosenHead> chosen = chosen_heads(result, "head_account/measured_profile", {}, 6);
  REQUIRE(chosen.size() == 6);
  CHECK(std::ranges::is_sorted(chosen, std::greater(), strength));
  const auto first_name = [&](double width) {
    FigureOptions options;
    options.width = width;
    const std::string script = kind_of_figure("offset_profile").draw(result, options).script();
    return script.substr(script.find("\"L") + 1, script.find('"', script.find("\"L") + 1) - script.find("\"L") - 1);
  };
  CHECK(first_name(2) == "L5H11");
  CHECK(first_name(0) == "L0H0");  // all heads: layers down, heads across
}

TEST_CASE("heads: a figure of the strongest draws what a figure of their names draws") {
  const Result result = sample::result();
  FigureOptions named, strongest;
  strongest.only = named.only = {"offset_profile"};
  strongest.heads = {"strongest:2"};
  named.heads = heads_asked_for(result, strongest.heads);
  if (!sample::can_draw()) return;
  const TemporaryFolder folder;
  draw_figures(result, folder / "named", named);
  draw_figures(result, folder / "strongest", strongest);
  for (const char* file : {"offset_profile.svg", "offset_profile.txt"})
    CHECK(sample::content_of(folder / "named" / file) == sample::content_of(folder / "strongest" / file));
  CHECK_THAT(sample::content_of(folder / "named" / "offset_profile.txt"), ContainsSubstring("2 of "));
}

TEST_CASE("heads: an unknown one is said before anything is drawn") {
  const TemporaryFolder folder;
  Result result;
  result.fields.push_back(make_field("a/x", {layer_axis(1), head_axis(1)}, "1", "x", {1}));
  FigureOptions options;
  options.heads = {"L1H0"};
  CHECK_THROWS_WITH(draw_figures(result, folder / "figures", options), ContainsSubstring("L1H0"));
  CHECK(std::filesystem::is_empty(folder.path()));
}
