#include "../../analysis/predictions/paper_phases.h"

#include "../../analysis/waves/phase_rotation.h"
#include "../../core/planted/planted.h"
#include "../catch.h"

using namespace headwave;

TEST_CASE("the whole rotation is orthogonal and differs between completions, while M does not know them") {
  const PlantedModel planted = planted_model(planted_bank());
  PaperPhasesOptions options;
  options.length = 64;
  const std::vector<Field> fields = paper_phases(planted.model.stack, {{0, 1}, {0, 4}}, options);
  REQUIRE(fields.size() == 2);
  for (const double spread : fields[0].doubles()) {
    CHECK(spread > 0.01);
    CHECK(spread < 1);
  }
  CHECK(fields[1].size() == 2 * 3 * 33 * 64);
  options.completions = 1;
  CHECK_THROWS_AS(paper_phases(planted.model.stack, {{0, 1}}, options), ShapeError);
  options.completions = 2;
  options.length = 5000;
  CHECK_THROWS_AS(paper_phases(planted.model.stack, {{0, 1}}, options), ShapeError);
  options.length = 64;
  CHECK_THROWS_AS(paper_phases(planted.model.stack, {{9, 1}}, options), ShapeError);
}

TEST_CASE("a model without a position table has no published picture, and says so") {
  Stack stack;
  stack.blocks.resize(1);
  const std::vector<Field> fields = paper_phases(stack, {{0, 0}});
  REQUIRE(fields.size() == 1);
  CHECK(std::get<std::string>(fields[0].attributes.at("undefined")) == "no position table");
}
