#include <cmath>

#include "../../core/model/layer.h"
#include "../../core/model/layer_positions.h"
#include "../../core/numbers/random.h"
#include "../catch.h"

using namespace headwave;

namespace {

constexpr Index d = 6, word_count = 9, length = 5;

Matrix32 random_states(Index rows, Index cols, Random& random, double mean = 0) {
  Matrix32 m(rows, cols);
  for (float& entry : m.reshaped()) entry = static_cast<float>(mean + random.normal());
  return m;
}

/// A stack that owns what it looks at: two layers, with norms where they are asked for.
struct SmallStack {
  Matrix32 table, positions, types, scales, shifts;
  Vector32 scale, shift, own_scale[2], own_shift[2];
  Stack stack;

  SmallStack(bool embedding_norm, bool pre, NormKind kind) {
    Random random(4);
    table = random_states(word_count, d, random, 0.3);
    positions = random_states(length, d, random);
    types = random_states(2, d, random);
    const auto vector = [&] { return Vector32(random_states(d, 1, random, 1)); };
    scale = vector();
    shift = vector();
    stack.embedding.words = table;
    stack.embedding.positions = positions;
    stack.embedding.token_types = types;
    stack.embedding.word_scale = 1.5F;
    if (embedding_norm) stack.embedding.norm = {scale, shift, 1e-5F, kind};
    stack.block.norm_place = pre ? NormPlace::pre : NormPlace::post;
    stack.blocks.resize(2);
    for (std::size_t layer = 0; layer < 2 && pre; ++layer) {
      own_scale[layer] = vector();
      own_shift[layer] = vector();
      stack.blocks[layer].self_norm = {own_scale[layer], own_shift[layer], 1e-5F, kind};
    }
  }

  /// What a layer sees of a word at a position.
  [[nodiscard]] Eigen::RowVectorXd seen(Index layer, Index word, const Eigen::RowVectorXf& position) const {
    Matrix32 x = 1.5F * table.row(word) + position + types.row(0);
    normalise(x, stack.embedding.norm);
    if (stack.block.norm_place == NormPlace::pre) normalise(x, stack.blocks[static_cast<std::size_t>(layer)].self_norm);
    return x.cast<double>();
  }
};

}  // namespace

TEST_CASE("means over words and their covariance are those of a loop over every word, wherever norms stand") {
  for (const bool embedding_norm : {false, true})
    for (const bool pre : {false, true})
      for (const NormKind kind : {NormKind::layer, NormKind::rms}) {
        CAPTURE(embedding_norm, pre, kind);
        const SmallStack small(embedding_norm, pre, kind);
        EmbeddingMeans means(small.stack, length - 1);
        for (const Index layer : {0, 1}) {
          Matrix positions = Matrix::Zero(length - 1, d), expected = Matrix::Zero(d, d);
          Eigen::RowVectorXd mean = Eigen::RowVectorXd::Zero(d);
          const Eigen::RowVectorXf middle = small.positions.colwise().mean();
          for (Index word = 0; word < word_count; ++word) {
            for (Index n = 0; n < length - 1; ++n)
              positions.row(n) += small.seen(layer, word, small.positions.row(n)) / word_count;
            mean += small.seen(layer, word, middle) / word_count;
          }
          for (Index word = 0; word < word_count; ++word) {
            const Eigen::RowVectorXd rest = small.seen(layer, word, middle) - mean;
            expected += rest.transpose() * rest / word_count;
          }
          const double eps = 64 * 1.2e-7;
          CHECK((means.positions(layer) - positions).cwiseAbs().maxCoeff() < eps * positions.norm());
          CHECK((means.word_covariance(layer) - expected).cwiseAbs().maxCoeff() < eps * expected.norm());
        }
      }
}

TEST_CASE("threads change no digit of the means over words") {
  const SmallStack small(true, false, NormKind::layer);
  EmbeddingMeans one(small.stack, length, 1), three(small.stack, length, 3);
  CHECK(one.positions(0) == three.positions(0));
  CHECK(one.word_covariance(0) == three.word_covariance(0));
}

TEST_CASE("means over words that cannot be taken are refused") {
  const SmallStack small(true, false, NormKind::layer);
  CHECK_THROWS_WITH(EmbeddingMeans(small.stack, length + 1),
                    ContainsSubstring("EmbeddingMeans: expected words and 1 to 5 positions, found 9 words and 6"));
  CHECK_THROWS_WITH(EmbeddingMeans(small.stack, 0),
                    ContainsSubstring("EmbeddingMeans: expected words and 1 to 5 positions, found 9 words and 0"));
  EmbeddingMeans means(small.stack, length);
  CHECK_THROWS_WITH(means.positions(2), ContainsSubstring("there is no layer 2 among 2 layers (counted from 0)"));
  CHECK_THROWS_WITH(means.word_covariance(-1),
                    ContainsSubstring("there is no layer -1 among 2 layers (counted from 0)"));
  Stack without = small.stack;
  without.embedding.words = {};
  CHECK_THROWS_WITH(EmbeddingMeans(without, length),
                    ContainsSubstring("EmbeddingMeans: expected words and 1 to 5 positions, found 0 words and 5"));
}
