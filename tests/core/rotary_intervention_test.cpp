#include <cmath>
#include <limits>

#include "../../core/attention/position_term.h"
#include "../../core/model/intervention.h"
#include "../catch.h"
#include "../test_numbers.h"
#include "tiny_rotary_model.h"

using namespace headwave;

namespace {

RotaryOptions rotary(RotaryPairing pairing, Index channels = 4) {
  RotaryOptions options;
  options.channels = channels;
  options.base = 50;
  options.pairing = pairing;
  return options;
}

/// Rotations of many kinds, all of which leave channels 4 and 5 of a head's six alone.
std::vector<RotaryOptions> rotations() {
  std::vector<RotaryOptions> all{rotary(RotaryPairing::halves), rotary(RotaryPairing::neighbours)};
  for (const RotaryScaling scaling : {RotaryScaling::linear, RotaryScaling::llama3, RotaryScaling::yarn}) {
    RotaryOptions scaled = rotary(RotaryPairing::halves);
    scaled.scaling = scaling;
    scaled.factor = 3;
    scaled.trained = 40;
    if (scaling == RotaryScaling::yarn) scaled.attention_factor = 1.3;
    all.push_back(scaled);
  }
  return all;
}

const std::vector<std::int32_t> some_words{3, 7, 1, 9, 9, 14, 2, 0, 19, 5, 3, 7};

}  // namespace

TEST_CASE("a turned query has the scores that it would have u tokens further on") {
  for (const RotaryOptions& options : rotations()) {
    const TinyRotaryModel tiny(options);
    const SeenAttention seen(tiny.model, words(some_words), 1);
    const Vector theta = RotaryTerm(options).frequency(0);
    for (const Index u : {-3, 0, 2}) {
      const Matrix32 moved = turned_queries(seen.query, {1, 3}, u, RotaryTerm(options), 6);
      if (u == 0) CHECK(moved == seen.query);
      for (const Index head : {0, 1, 2, 3}) {
        const auto q = seen.query.middleCols(6 * head, 6).cast<double>(),
                   is = moved.middleCols(6 * head, 6).cast<double>();
        for (Index m = 0; m < theta.size(); ++m) {
          const bool halves = options.pairing == RotaryPairing::halves;
          const Index a = halves ? m : 2 * m, b = halves ? m + theta.size() : 2 * m + 1;
          const double angle = head % 2 == 1 ? -theta[m] * static_cast<double>(u) : 0;
          CHECK((is.col(a) - std::cos(angle) * q.col(a) + std::sin(angle) * q.col(b)).cwiseAbs().maxCoeff() < 1e-5);
          CHECK((is.col(b) - std::cos(angle) * q.col(b) - std::sin(angle) * q.col(a)).cwiseAbs().maxCoeff() < 1e-5);
        }
        CHECK(is.rightCols(6 - options.channels) == q.rightCols(6 - options.channels));
      }
    }
  }
  // The length is known: what dynamic scaling makes of the frequencies, too.
  RotaryOptions dynamic = rotary(RotaryPairing::halves);
  dynamic.scaling = RotaryScaling::dynamic;
  dynamic.factor = 2;
  dynamic.trained = 8;
  const RotaryTerm term(dynamic);
  const Matrix32 query = Matrix32::Ones(12, 6);
  const double angle = -2 * term.frequency(12)[1];
  CHECK(turned_queries(query, {0}, 2, term, 6)(5, 1) == Approx(std::cos(angle) - std::sin(angle)).epsilon(1e-6));
  CHECK_THROWS_WITH(turned_queries(query, {1}, 2, term, 6), ContainsSubstring("there is no head 1 among 1"));
  CHECK_THROWS_WITH(turned_queries(query, {0}, 2, term, 5),
                    ContainsSubstring("turned_queries: expected a head width that divides the 6 columns of the"));
}
