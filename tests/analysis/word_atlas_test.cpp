#include "../../analysis/predictions/word_atlas.h"

#include <cmath>

#include "../catch.h"
#include "drawn_documents.h"

using namespace headwave;

namespace {

/// Four heads over |t| <= 2 of 8 tokens, their measured profile as given.
HeadAccount word_account_of(const Matrix& profile, AttentionKind kind) {
  HeadAccount account;
  account.site.grid = {{0}, profile.rows()};
  account.site.kind = kind;
  account.site.length = 8;
  account.site.reach = 2;
  account.documents = 4;
  account.measured = profile;
  account.uniform = Matrix::Constant(profile.rows(), profile.cols(), 1.0 / 8);
  account.measured_weight = Vector(profile.rows());
  for (Index row = 0; row < profile.rows(); ++row)
    account.measured_weight[row] = profile.row(row).hasNaN() ? not_defined : profile.row(row).maxCoeff();
  return account;
}

}  // namespace

TEST_CASE("a prediction is the largest weight, where it is enough above chance and not at the end of the search") {
  const double none = not_defined;
  const Matrix profile = (Matrix(4, 5) << 0.1, 0.3, 0.1, 0.1, 0.1,  // offset
                          0.4, 0.3, 0.1, 0.1, 0.1,                  // edge
                          0.12, 0.13, 0.14, 0.13, 0.12,             // weak: chance is 1/8
                          none, none, none, none, none)             // nothing
                             .finished();
  const WordAtlas atlas = word_atlas(word_account_of(profile, AttentionKind::self));
  CHECK(atlas.status == std::vector<PredictedStatus>{PredictedStatus::offset, PredictedStatus::edge,
                                                     PredictedStatus::weak, PredictedStatus::nothing});
  CHECK(atlas.offset[0] == -1);
  CHECK(atlas.weight[0] == 0.3);
  CHECK(atlas.chance[0] == 0.125);
  CHECK(std::isnan(atlas.estimate[1]));
  CHECK(atlas.estimate[2] == 0);
  for (Index row = 1; row < 4; ++row) CHECK(std::isnan(atlas.offset[row]));
  CHECK(word_atlas(word_account_of(profile, AttentionKind::self), {.least_times = 1.1}).offset[2] == 0);
  for (const Field& field : describe(atlas)) {
    CHECK(field.group() == "word_atlas");
    CHECK_NOTHROW(field.check_shape());
  }
}

TEST_CASE("over random words a head looks where its waves point, or at the same word where that is stronger") {
  DrawnHead waves;
  waves.amplitudes = {0.8, 0.7, 0.6, 0.5};
  waves.offset = -3;
  waves.followed = 0;
  DrawnHead both = waves;
  both.self = 6;
  const WordAtlas atlas = word_atlas(DrawnJob({waves, both}, 4, Random(1)).account());
  CHECK(atlas.offset[0] == -3);
  CHECK(atlas.offset[1] == 0);
  CHECK(atlas.chance[0] == Approx(1.0 / 96));
}
