#include "../../analysis/waves/delay_spectrum.h"
#include "../catch.h"
#include "planted_waves.h"

using namespace headwave;

TEST_CASE("the null of the delay is of heads that read random frames with their own gains, whatever the states' size") {
  constexpr Index length = 48, d_model = 20, d_head = 6, heads = 4;
  Random random(4);
  const auto drawn = [&](Index rows, Index cols) {
    return Matrix(Matrix::NullaryExpr(rows, cols, [&] { return random.normal(); }));
  };
  std::vector<Matrix> queries, keys;
  for (Index h = 0; h < heads; ++h) {
    queries.push_back(drawn(d_model, d_head));
    keys.push_back(drawn(d_model, d_head));
  }
  keys[1].rightCols(2).setZero();  // a head of lower rank
  keys[3].setZero();               // one that matches nothing
  const WaveStack made(queries, keys);
  const Matrix states = drawn(length, d_model);
  WaveChainOptions options;
  options.columns = false;
  options.reading.draws = 4;
  const Matrix32 frames = random_frames(d_model, d_head, options.reading);
  const std::vector<ChainHead> wave_head = chain_heads(made.stack, made.grid(), 1);
  CHECK(wave_head[1].rank == 4);
  CHECK(wave_head[3].rank == 0);

  for (const double size : {1e-17, 1.0, 1e17}) {
    CAPTURE(size);
    const Matrix32 document = (size * states).cast<float>();
    const CrossSpectra spectra = chain_of(made.stack, made.grid(), {document}, options).scores;
    REQUIRE(spectra.null.size() == 4);
    const Matrix wide = document.cast<double>();
    for (Index row = 0; row < heads; ++row) {
      const ChainHead& head = wave_head[static_cast<std::size_t>(row)];
      const auto of = [&](const std::vector<Matrix>& weights) {
        return Matrix(wide * weights[static_cast<std::size_t>(row)].cast<float>().cast<double>());
      };
      const HeadWaves waves = head_waves(row, head, of(queries), of(keys), {});
      for (Index draw = 0; draw < 4; ++draw) {
        const Matrix frame = frames.middleCols(draw * d_head, head.rank).cast<double>();
        const Eigen::VectorXcd expected = cross_spectrum(gained_queries(waves), real_dft(Matrix(wide * frame)));
        const Eigen::VectorXcd found = spectra.null[static_cast<std::size_t>(draw)].col(row);
        CHECK((found - expected).norm() <= 1e-6 * expected.norm());
      }
    }
  }
}
