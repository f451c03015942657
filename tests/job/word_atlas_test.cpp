#include <cmath>

#include "../../job/studies/model_atlas.h"
#include "../analysis/drawn_documents.h"
#include "../analysis/found_field.h"
#include "../catch.h"

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
  const std::vector<Field> atlas = word_atlas(word_account_of(profile, AttentionKind::self));
  const Field& status = field_of(atlas, "word_atlas/status");
  const std::vector<std::string> expected{"offset", "edge", "weak", "nothing"};
  for (std::size_t row = 0; row < 4; ++row)
    CHECK(status.flag_meanings.at(std::get<std::vector<std::uint8_t>>(status.values)[row]) == expected[row]);
  const std::vector<double>& offset = field_of(atlas, "word_atlas/predicted_offset").doubles();
  CHECK(offset[0] == -1);
  for (std::size_t row = 1; row < 4; ++row) CHECK(std::isnan(offset[row]));
  CHECK(field_of(atlas, "word_atlas/predicted_weight").doubles()[0] == 0.3);
  CHECK(field_of(atlas, "word_atlas/chance").doubles()[0] == 0.125);
  CHECK(std::isnan(field_of(atlas, "word_atlas/estimate").doubles()[1]));
  CHECK(field_of(atlas, "word_atlas/estimate").doubles()[2] == 0);
}

TEST_CASE("over random words a head looks where its waves point, or at the same word where that is stronger") {
  DrawnHead waves;
  waves.amplitudes = {0.8, 0.7, 0.6, 0.5};
  waves.offset = -3;
  waves.followed = 0;
  DrawnHead both = waves;
  both.self = 6;
  const std::vector<Field> atlas = word_atlas(DrawnJob({waves, both}, 4, Random(1)).account());
  CHECK(field_of(atlas, "word_atlas/predicted_offset").doubles() == std::vector<double>{-3, 0});
  CHECK(field_of(atlas, "word_atlas/chance").doubles()[0] == Approx(1.0 / 96));
}
