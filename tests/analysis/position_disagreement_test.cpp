#include <cmath>

#include "../../core/numbers/random.h"
#include "../catch.h"
#include "../test_numbers.h"
#include "test_pass.h"

using namespace headwave;

namespace {

constexpr double disagreement_eps = std::numeric_limits<double>::epsilon();

/// One document whose heads have these weights, seen in tiles of so many query rows.
double disagreement_of(const std::vector<Matrix32>& weights, Index tile_rows = 1000) {
  const auto shown = [&](Probe& probe) {
    show_heads(probe, weights, AttentionKind::causal, tile_rows);  // another kind: passes unseen
    show_heads(probe, weights, AttentionKind::self, tile_rows);
  };
  const TestPass pass{.grid = {{0, 1}, std::ssize(weights)}};
  const std::vector<Field> fields =
      pass.fields("position_disagreement", {{document_of(weights.front().rows()), shown}});
  CHECK(std::isnan(fields.front().doubles().at(1)));  // a layer that nobody saw
  return field_of(fields, "position_disagreement/mean").doubles().front();
}

/// Equation (1) written out.
double direct_disagreement(const std::vector<Matrix32>& heads) {
  double sum = 0;
  for (const Matrix32& a : heads)
    for (const Matrix32& b : heads) sum += a.cast<double>().cwiseProduct(b.cast<double>()).norm();
  return -sum / static_cast<double>(heads.size() * heads.size());
}

}  // namespace

TEST_CASE("position disagreement by hand: heads at one key each, heads that do not care, and both") {
  Matrix32 a(3, 3);
  a << 0.5F, 0.25F, 0.25F, 0.125F, 0.75F, 0.125F, 1, 0, 0;
  // Sum of fourth powers: 0.0625 + 2/256, 2/4096 + 0.31640625, 1.
  CHECK(disagreement_of({a}) ==
        Approx(-std::sqrt(0.0625 + 2.0 / 256 + 2.0 / 4096 + 0.31640625 + 1)).epsilon(4 * disagreement_eps));
  // |I * I| = sqrt(T), |U * U| = 1/T, |I * U| = 1/sqrt(T).
  CHECK(disagreement_of({Matrix32::Identity(33, 33), Matrix32::Constant(33, 33, 1.0F / 33)}) ==
        Approx(-(std::sqrt(33.0) + 1.0 / 33 + 2 / std::sqrt(33.0)) / 4).epsilon(1e-6));
}

TEST_CASE("position disagreement is the definition written out, in tiles of any height") {
  Random random(4);
  std::vector<Matrix32> weights(3, Matrix32(37, 37));
  for (Matrix32& a : weights)
    for (Index i = 0; i < a.size(); ++i) a.data()[i] = static_cast<float>(random.uniform());
  const double whole = disagreement_of(weights);
  CHECK(whole == Approx(direct_disagreement(weights)).epsilon(300 * disagreement_eps));
  for (const Index rows : {1, 5, 36})
    CHECK(disagreement_of(weights, rows) == Approx(whole).epsilon(300 * disagreement_eps));
}

TEST_CASE("position disagreement: weights too small for their squares in float still count") {
  const auto tiny = static_cast<double>(1e-30F);
  CHECK(disagreement_of({Matrix32::Constant(3, 3, 1e-30F), Matrix32::Constant(3, 3, 1e-30F)}) ==
        Approx(-3 * tiny * tiny).epsilon(8 * disagreement_eps));
}
