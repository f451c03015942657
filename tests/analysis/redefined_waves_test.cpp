#include "../../analysis/waves/redefined_waves.h"

#include <cmath>
#include <numbers>
#include <vector>

#include "../../analysis/waves/wave_chain.h"
#include "../../core/numbers/fft.h"
#include "../../core/numbers/random.h"
#include "../catch.h"

using namespace headwave;

TEST_CASE("redefined: the most periodic column of each range of periods comes first, then the most periodic others") {
  constexpr Index length = 512;
  const std::vector<double> frequencies{10, 11, 12, 88, 20};  // periods 51, 47, 43, 5.8 and 26 tokens
  const std::vector<double> noises{0.1, 0.2, 0.3, 1.0, 0.8};  // the more, the less periodic
  const auto columns = static_cast<Index>(frequencies.size());
  HeadWaves waves;
  waves.query.resize(length, columns);
  Random random(3);
  for (Index j = 0; j < columns; ++j)
    for (Index i = 0; i < length; ++i)
      waves.query(i, j) = std::cos(2 * std::numbers::pi * frequencies[static_cast<std::size_t>(j)] *
                                   static_cast<double>(i) / static_cast<double>(length)) +
                          noises[static_cast<std::size_t>(j)] * random.normal();
  waves.key = 2 * waves.query;
  waves.query_spectrum = real_dft(waves.query);
  RedefinedWavesListener listener({{0}, 1}, length, 4);
  listener.see(waves);
  const RedefinedWaves shown = listener.taken();
  REQUIRE(shown.component.cols() == 4);
  // Of [32, 128), [8, 32) and [4, 8) tokens one each, then the second of [32, 128).
  for (const auto& [wave, component] : {std::pair<Index, Index>{0, 1}, {1, 5}, {2, 4}, {3, 2}}) {
    INFO(wave);
    CHECK(shown.component(0, wave) == static_cast<double>(component));
    CHECK((shown.query.row(wave).transpose() - waves.query.col(component - 1)).norm() == 0);
    CHECK((shown.key.row(wave).transpose() - waves.key.col(component - 1)).norm() == 0);
  }
}
