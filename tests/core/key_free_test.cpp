#include <array>

#include "../../core/attention/attend.h"
#include "../../core/model/head_weights.h"
#include "../../core/numbers/random.h"
#include "../catch.h"

using namespace headwave;

namespace {

Matrix32 random_weights(Index rows, Index cols, std::uint64_t seed) {
  Random random(seed);
  Matrix32 m(rows, cols);
  for (Index i = 0; i < m.size(); ++i) m.data()[i] = static_cast<float>(random.normal());
  return m;
}

/// Attention weights of one head, in double.
Matrix attention_of(const Matrix& query, const Matrix& key, double scale) {
  const Matrix identity = Matrix::Identity(key.rows(), key.rows());
  return attend<double>({query, key, identity, 1, 1, scale}, {}, {}, {});
}

}  // namespace

TEST_CASE("the key-free form gives the same attention as queries and keys, with biases and shared key heads") {
  constexpr Index d_model = 10, heads = 4, kv_heads = 2, d_head = 3, length = 15;
  const Matrix32 wq = random_weights(heads * d_head, d_model, 1), wk = random_weights(kv_heads * d_head, d_model, 2);
  const Vector32 bq = random_weights(heads * d_head, 1, 3), bk = random_weights(kv_heads * d_head, 1, 4);
  AttentionWeights attention;
  attention.query = {wq, bq};
  attention.key = {wk, bk};
  BlockSpec block;
  block.heads = heads;
  block.kv_heads = kv_heads;
  block.d_head = d_head;
  const Matrix states = random_weights(length, d_model, 5).cast<double>();
  const Matrix q = states * wq.transpose().cast<double>();
  const Matrix k = states * wk.transpose().cast<double>();
  for (Index head = 0; head < heads; ++head) {
    const Matrix query = (q.rowwise() + bq.cast<double>().transpose()).middleCols(head * d_head, d_head);
    const Matrix key = (k.rowwise() + bk.cast<double>().transpose()).middleCols(head / 2 * d_head, d_head);
    const Matrix expected = attention_of(query, key, 0.3);
    const Matrix came = attention_of(key_free_queries(states, attention, block, head), states, 0.3);
    // Scores of size up to max |q k| are rounded; the softmax turns that into relative error.
    const double size = (query * key.transpose()).cwiseAbs().maxCoeff();
    CHECK((came - expected).cwiseAbs().maxCoeff() < 64 * 2.3e-16 * size);
    CHECK(expected.maxCoeff() > 2.0 / length);
  }
  CHECK_THROWS_WITH(key_free_queries(states, attention, block, 4), ContainsSubstring("no head 4 among 4"));
  CHECK_THROWS_AS(key_free_queries(states.leftCols(9).eval(), attention, block, 0), ShapeError);
}
