#include <cmath>

#include "../../core/attention/position_term.h"
#include "../../core/model/layer_positions.h"
#include "../../core/numbers/random.h"
#include "../catch.h"

using namespace headwave;

namespace {

Matrix32 noise(Index rows, Index d, double deviation, std::uint64_t seed) {
  Random random(seed);
  Matrix32 table(rows, d);
  for (float& entry : table.reshaped()) entry = static_cast<float>(deviation * random.normal());
  return table;
}

/// Smooth waves of falling amplitude with a little noise on top, as learned tables look.
Matrix32 learned(Index rows, Index d, double norm, std::uint64_t seed) {
  Random random(seed);
  Matrix32 table = noise(rows, d, 0.05 * norm / std::sqrt(static_cast<double>(d)), seed + 1000);
  for (Index wave = 1; wave <= 12; ++wave) {
    const double frequency = 0.3 * static_cast<double>(wave) / 12, phase = 6.28 * random.uniform();
    const Matrix32 direction = noise(1, d, norm / std::sqrt(static_cast<double>(12 * d)), seed + 2000 + wave);
    const Matrix32 other = noise(1, d, norm / std::sqrt(static_cast<double>(12 * d)), seed + 3000 + wave);
    for (Index n = 0; n < rows; ++n)
      table.row(n) += static_cast<float>(std::cos(frequency * static_cast<double>(n) + phase)) * direction +
                      static_cast<float>(std::sin(frequency * static_cast<double>(n) + phase)) * other;
  }
  return table;
}

}  // namespace

TEST_CASE("rows that were never trained are found at the end of a table, whatever their norm", "[long]") {
  for (std::uint64_t seed = 1; seed <= 20; ++seed)
    for (const Index d : {32, 128, 512})
      for (const double untrained : {0.0, 0.1, 0.4, 1.0, 5.0}) {
        CAPTURE(seed, d, untrained);
        const Index rows = 300, trained = 200;
        Matrix32 table = noise(rows, d, untrained / std::sqrt(static_cast<double>(d)), seed);
        table.topRows(trained) = learned(trained, d, 1.3, seed);
        const TrainedRows found = trained_rows(table);
        CHECK(std::abs(found.trained - trained) <= (d < 100 ? 2 : 0));
        CHECK(found.rows == rows);
        CHECK_FALSE(found.all());
        CHECK(found.untrained_norm == Approx(untrained).epsilon(0.15).margin(1e-12));
        CHECK(found.trained_norm == Approx(1.3).epsilon(0.4));
        // A row of padding before all others, whether zero or large, changes nothing.
        table.row(0).setZero();
        CHECK(trained_rows(table).trained == found.trained);
        table.row(0).setConstant(3);
        CHECK(trained_rows(table).trained == found.trained);
      }
}

TEST_CASE("a boundary that training texts reached less and less often lies where noise is half of a row") {
  const Index d = 256;
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    CAPTURE(seed);
    Matrix32 table = noise(400, d, 0.4 / std::sqrt(static_cast<double>(d)), seed);
    const Matrix32 position = learned(250, d, 1.3, seed);
    for (Index n = 0; n < 250; ++n)  // 0.4 of 1.3 is left 12 rows before the end
      table.row(n) += position.row(n) * std::min(1.0F, static_cast<float>(250 - n) / 40);
    const Index found = trained_rows(table).trained;
    CHECK(found >= 232);
    CHECK(found <= 248);
  }
}

TEST_CASE("no table that is trained all over, random all over, zero or sinusoidal has untrained rows", "[long]") {
  for (std::uint64_t seed = 1; seed <= 50; ++seed)
    for (const Index d : {8, 32, 128, 512}) {
      CAPTURE(seed, d);
      CHECK(trained_rows(learned(256, d, 1.3, seed)).all());
      Matrix32 random = noise(256, d, 0.02, seed);
      CHECK(trained_rows(random).all());
      random.row(0).setZero();  // a row of padding
      CHECK(trained_rows(random).all());
      random.row(1).setZero();
      random.row(100) *= 5;  // a row of its own kind among random ones
      CHECK(trained_rows(random).all());
      // Norms that grow or fall along a table are no boundary.
      Matrix32 sloped = noise(256, d, 1, seed);
      for (Index n = 0; n < 256; ++n) sloped.row(n) *= static_cast<float>(4.0 - 3.0 * static_cast<double>(n) / 255);
      CHECK(trained_rows(sloped).all());
      Matrix32 stepped = noise(256, d, 1, seed);  // nor is a step
      stepped.bottomRows(80) *= 0.3F;
      CHECK(trained_rows(stepped).all());
    }
  CHECK(trained_rows(Matrix32(Matrix32::Zero(128, 16))).all());
  CHECK(trained_rows(Matrix32()).all());
  for (const SinusoidLayout layout : {SinusoidLayout::interleaved, SinusoidLayout::concatenated})
    for (const Index length : {16, 64, 512, 1500}) CHECK(trained_rows(sinusoids(length, 64, {.layout = layout})).all());
  // Too few to tell.
  Matrix32 few = noise(30, 64, 0.02, 1);
  few.topRows(25) = learned(25, 64, 1.3, 1);
  CHECK(trained_rows(few).all());
}
