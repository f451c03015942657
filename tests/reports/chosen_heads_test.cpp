#include "../../reports/figures/chosen_heads.h"

#include "../../core/errors/error.h"
#include "../../reports/figures/figures.h"
#include "../catch.h"

using namespace headwave;

TEST_CASE("heads: what a result knows nothing of is refused, whichever Fields it has") {
  Result result;
  CHECK_NOTHROW(require_heads(result, {}));
  CHECK_THROWS_WITH(require_heads(result, {"L0H0"}), "there is no L0H0; the result has no heads");
  result.fields.push_back(
      make_field("a/x", {layer_axis(6), head_axis(12)}, "1", "x", std::vector<double>(static_cast<std::size_t>(72))));
  CHECK_NOTHROW(require_heads(result, {"L5H11", "L0H0"}));
  CHECK_THROWS_WITH(require_heads(result, {"L0H0", "L9H9"}),
                    "there is no L9H9; the result has 6 layers of 12 heads, L0H0 to L5H11");
  CHECK_THROWS_WITH(require_heads(result, {"L2H99"}), ContainsSubstring("there is no L2H99"));
  CHECK_THROWS_AS(require_heads(result, {"L2"}), FormatError);
}

TEST_CASE("heads: layers may be missing, and re-aimed heads are named one by one") {
  Result result;
  const Axis layers = layer_axis(std::vector<Index>{1, 3});
  result.fields.push_back(make_field("a/x", {layers, head_axis(2)}, "1", "x", {1, 2, 3, 4}));
  CHECK_THROWS_WITH(require_heads(result, {"L2H0"}), "there is no L2H0; the result has 4 heads, L1H0 to L3H1");
  Result moved;
  const Axis heads{"re_aimed_head", "1", "head", std::vector<std::string>{"L0H2", "L1H8"}};
  moved.fields.push_back(make_field("re_aiming/slope", {heads}, "1", "x", {1, 2}));
  CHECK_NOTHROW(require_heads(moved, {"L1H8"}));
  CHECK_THROWS_WITH(require_heads(moved, {"L1H7"}), "there is no L1H7; the result has 2 heads, L0H2 to L1H8");
}

TEST_CASE("heads: an unknown one is said before anything is drawn") {
  const TemporaryFolder folder;
  Result result;
  result.fields.push_back(make_field("a/x", {layer_axis(1), head_axis(1)}, "1", "x", {1}));
  FigureOptions options;
  options.heads = {"L1H0"};
  CHECK_THROWS_AS(draw_figures(result, folder / "figures", options), ShapeError);
  CHECK(std::filesystem::is_empty(folder.path()));
}
