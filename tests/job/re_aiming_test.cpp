#include "../../job/studies/re_aiming.h"

#include <cmath>

#include "../../core/planted/planted.h"
#include "../catch.h"
#include "failing_source.h"

using namespace headwave;

TEST_CASE("planted heads move by exactly -u when their keys are re-aimed by u, those without waves do not") {
  const PlantedModel planted = planted_model(planted_bank());
  const auto source = planted_documents(planted, 2, 160, 3);
  ReAimingOptions options;
  options.shifts = {-2, 1};
  Index noise = 0, wave = 0;
  const auto& layer = planted.spec.heads[1];
  for (Index h = 0; h < static_cast<Index>(layer.size()); ++h) options.heads.push_back({1, h});
  const ReAiming found = re_aiming(planted.model, *source, options);
  REQUIRE(found.shifts == std::vector<Index>{-2, 0, 1});
  for (Index h = 0; h < static_cast<Index>(layer.size()); ++h) {
    const PlantedHead& head = layer[static_cast<std::size_t>(h)];
    CAPTURE(h, name_of(head.kind));
    if (head.positional()) {
      ++wave;
      CHECK(found.offset(h, 0) == head.offset + 2);
      CHECK(found.offset(h, 1) == head.offset);
      CHECK(found.offset(h, 2) == head.offset - 1);
      CHECK(found.slope[h] == Approx(-1));
      CHECK(found.follows[h] == 1);
      CHECK(found.followed(h, 0) == Approx(1).margin(0.1));
    } else if (head.kind != PlantedKind::content) {
      ++noise;
      CHECK(std::isnan(found.slope[h]));
      CHECK(std::isnan(found.follows[h]));
    }
  }
  // The profile of the re-aimed model is largest where the head looks.
  for (Index h = 0; h < static_cast<Index>(layer.size()); ++h)
    for (Index s = 0; s < 3; ++s)
      if (std::isfinite(found.offset(h, s)) && std::abs(found.offset(h, s)) <= static_cast<double>(found.reach)) {
        const auto profile = found.profile.row(3 * h + s);
        const auto at = static_cast<Index>(found.offset(h, s)) + found.reach;
        CHECK(profile[at] == profile.maxCoeff());
        CHECK(profile[at] == found.weight(h, s));
      }
  CHECK(wave >= 5);
  CHECK(noise >= 1);
  const std::vector<Field> fields = describe(found);
  CHECK(fields.front().name == "re_aiming/offset");
  CHECK(fields.front().size() == 8 * 3);
}

TEST_CASE("without heads named, those with the clearest offsets are re-aimed") {
  const PlantedModel planted = planted_model(planted_bank());
  const auto source = planted_documents(planted, 1, 128, 3);
  ReAimingOptions options;
  options.shifts = {1};
  options.most_heads = 3;
  const ReAiming found = re_aiming(planted.model, *source, options);
  REQUIRE(found.heads.size() == 3);
  for (const HeadName& head : found.heads)
    CHECK(planted.spec.heads[static_cast<std::size_t>(head.layer)][static_cast<std::size_t>(head.head)].kind ==
          PlantedKind::adjacent);
}

TEST_CASE("a model without a position table cannot be re-aimed, and says so") {
  const PlantedModel planted = planted_model(planted_bank());
  const auto source = planted_documents(planted, 1, 64, 3);
  Model model = planted.model;
  model.stack.embedding.positions = MatrixView32();
  CHECK_THROWS_WITH(re_aiming(model, *source), ContainsSubstring("no position table"));
}

TEST_CASE("re-aiming is refused of heads that are not there, of encoder-decoders, and what stops a job stops it") {
  const PlantedModel planted = planted_model(planted_bank());
  const auto source = planted_documents(planted, 2, 64, 3);
  ReAimingOptions options;
  for (const HeadName& none : {HeadName{4, 0}, HeadName{0, 8}}) {
    options.heads = {none};
    CHECK_THROWS_AS(re_aiming(planted.model, *source, options), ShapeError);
  }
  CHECK_THROWS_WITH(re_aiming(planted.model, *source, options),
                    "there is no head L0H8; the model has 4 layers of 8 heads");
  Model pairs = planted.model;
  pairs.decoder = pairs.stack;
  CHECK_THROWS_AS(re_aiming(pairs, *source), ShapeError);
  CHECK_THROWS_AS(re_aiming(planted.model, FailingSource(*source, -1)), ShapeError);
  CHECK_THROWS_AS(re_aiming(planted.model, FailingSource(*source, 1)), IoError);
  options = {};
  options.reach = 0;
  CHECK_THROWS_AS(re_aiming(planted.model, *source, options), ShapeError);
}
