#include "../../analysis/predictions/word_atlas.h"

#include <cmath>

#include "../catch.h"
#include "drawn_scores.h"

using namespace headwave;

namespace {

/// Four heads over |t| <= 2 of 8 tokens, their second term as given.
HeadAccount word_account_of(const Matrix& profile, AttentionKind kind) {
  HeadAccount account;
  account.site.grid = {{0}, profile.rows()};
  account.site.kind = kind;
  account.site.length = 8;
  account.site.reach = 2;
  account.documents = 4;
  account.predicted[1] = profile;
  account.weight[1] = Vector(profile.rows());
  for (Index row = 0; row < profile.rows(); ++row)
    account.weight[1][row] = profile.row(row).hasNaN() ? not_defined : profile.row(row).maxCoeff();
  return account;
}

}  // namespace

TEST_CASE("equal weights, on the page: over all keys, over those before, over a window") {
  AccountSite site;
  site.length = 4;
  CHECK(flat_weight(site, -1) == 0.25);
  CHECK(flat_weight(site, 2) == 0.25);
  CHECK(std::isnan(flat_weight(site, 3)));  // the first token is neither query nor key
  site.kind = AttentionKind::causal;
  CHECK(flat_weight(site, 0) == Approx((1.0 / 2 + 1.0 / 3 + 1.0 / 4) / 3));
  CHECK(flat_weight(site, -1) == Approx((1.0 / 3 + 1.0 / 4) / 2));
  CHECK(std::isnan(flat_weight(site, 1)));
  site.window = 2;
  CHECK(flat_weight(site, -1) == 0.5);
  CHECK(std::isnan(flat_weight(site, -2)));
}

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

TEST_CASE("waves and what content adds predict together: the offset of their sum") {
  DrawnScores spec;
  spec.amplitudes = {0.8, 0.7, 0.6, 0.5};
  spec.offset = -3;
  spec.deviation = 0.1;
  HeadAccountOptions without;
  without.draws = 0;
  const HeadAccount waves = head_account(drawn_groups(spec, 4, Random(1)), site_of(spec), without);
  CHECK(word_atlas(waves).offset[0] == -3);
  spec.content = Vector::Zero(2 * spec.length - 1);
  spec.content[spec.length - 1] = 6;  // every word finds itself
  const HeadAccount both = head_account(drawn_groups(spec, 4, Random(1)), site_of(spec), without);
  CHECK(word_atlas(both).offset[0] == 0);
  CHECK(both.offset[0][0] == -3);
}
