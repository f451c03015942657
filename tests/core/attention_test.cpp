#include <array>
#include <cmath>
#include <limits>

#include "../../core/attention/attend.h"
#include "../../core/attention/probe.h"
#include "../../core/numbers/random.h"
#include "../catch.h"
#include "../reference/direct_attention.h"
#include "../reference/multi_head.h"
#include "../test_numbers.h"

using namespace headwave;

namespace {

/// The four tokens of the worked example, and its one projection for queries, keys and values.
Matrix four_tokens() {
  Matrix x(4, 4);
  x << 1, 0, 1, 0, 0, 1, 0, 1, 1, 1, 0, 0, 0, 0, 1, 1;
  return x;
}

Matrix folding() {
  Matrix w(4, 2);
  w << 1, 0, 0, 1, 1, 0, 0, 1;
  return w;
}

/// Remembers the largest difference between tiles and whole matrices.
class Compare : public Probe {
 public:
  explicit Compare(const std::vector<Matrix>& expected) : expected_(expected) {}
  void see(const Tile& /*tile*/) override {}
  void see(const Tile64& tile) override {
    for (std::size_t head = 0; head < tile.weights.size() && tile.keys > 0; ++head)
      difference = std::max(
          difference,
          (tile.weights[head] - expected_[head].middleRows(tile.first_row, tile.rows())).cwiseAbs().maxCoeff());
    rows += tile.rows();
    widest = std::max(widest, tile.rows());
  }
  double difference = 0.0;
  Index rows = 0, widest = 0;

 private:
  const std::vector<Matrix>& expected_;
};

}  // namespace

TEST_CASE("the worked example has exact weights that its print rounds loosely") {
  // By hand: X W = (2,0), (0,2), (1,1), (1,1). A published print of this example shows (1,0), (0,1), (1,0), (0,1) and
  // weights 0.3333 and 0.1667; with those projections they are e/(2e + 2) and 1/(2e + 2) for e = exp(1/sqrt 2).
  Matrix projected(4, 2);
  projected << 1, 0, 0, 1, 1, 0, 0, 1;
  const Attention attention = scaled_dot_product_attention(projected, projected, projected);
  const double e = std::exp(1.0 / std::sqrt(2.0));
  const double high = e / (2 * e + 2), low = 1 / (2 * e + 2);
  CHECK(high == Approx(0.334881).margin(5e-7));
  CHECK(low == Approx(0.165119).margin(5e-7));
  for (Index i = 0; i < 4; ++i)
    for (Index j = 0; j < 4; ++j)
      CHECK(attention.weights[0](i, j) == Approx((i - j) % 2 == 0 ? high : low).epsilon(8 * eps));
  CHECK(attention.output(0, 0) == Approx(2 * high).epsilon(8 * eps));
  CHECK(attention.output(0, 1) == Approx(2 * low).epsilon(8 * eps));
}

TEST_CASE("the worked example from its embeddings") {
  const Matrix x = four_tokens();
  const MultiHeadWeights weights{folding(), folding(), folding(), Matrix::Identity(2, 2), {}, {}, {}, {}, 1};
  const Attention attention = multi_head_attention(x, x, weights);
  // Scores by hand: rows (2,0), (0,2), (1,1), (1,1) against themselves, over sqrt 2.
  CHECK(attention.scores[0](0, 0) == Approx(4 / std::sqrt(2.0)).epsilon(4 * eps));
  CHECK(attention.scores[0](0, 1) == 0.0);
  CHECK(attention.scores[0](2, 3) == Approx(2 / std::sqrt(2.0)).epsilon(4 * eps));
  // The third token looks at all four alike: every score in its row is 2/sqrt 2.
  for (Index j = 0; j < 4; ++j) CHECK(attention.weights[0](2, j) == Approx(0.25).epsilon(8 * eps));
}

TEST_CASE("three tokens through two heads, by hand") {
  Matrix x(3, 4);
  x << 1, 0, 1, 2, 2, 1, 2, 0, 0, 0, 1, 1;
  // Head 0 reads the first coordinate on both sides, head 1 asks with the second and is answered by the fourth. With
  // d_head = 1 nothing is scaled. Values have a width of their own: head 0 carries coordinate 3, head 1 coordinate 4.
  MultiHeadWeights weights{
      Matrix::Zero(4, 2), Matrix::Zero(4, 2), Matrix::Zero(4, 2), Matrix::Identity(2, 2), {}, {}, {}, {}, 2};
  weights.query(0, 0) = weights.key(0, 0) = weights.value(2, 0) = 1;
  weights.query(1, 1) = weights.key(3, 1) = weights.value(3, 1) = 1;
  const Attention attention = multi_head_attention(x, x, weights);
  // Head 0, token 0: scores 1*(1, 2, 0); values 1, 2, 1.
  const double e = std::exp(1.0);
  CHECK(attention.weights[0](0, 1) == Approx(e * e / (e + e * e + 1)).epsilon(8 * eps));
  CHECK(attention.output(0, 0) == Approx((e + 2 * e * e + 1) / (e + e * e + 1)).epsilon(8 * eps));
  // Head 0, token 2 asks with 0: uniform, the mean of 1, 2, 1.
  CHECK(attention.output(2, 0) == Approx(4.0 / 3.0).epsilon(8 * eps));
  // Head 1, token 1 asks with 1: scores (2, 0, 1), values 2, 0, 1.
  CHECK(attention.output(1, 1) == Approx((2 * e * e + e) / (e * e + 1 + e)).epsilon(8 * eps));
}

TEST_CASE("tiles agree with a direct computation, whatever the mask") {
  const Index queries = 150, keys = 131, heads = 4, kv_heads = 2, d_head = 5, d_value = 3;
  const Matrix q = random_matrix(queries, heads * d_head, 1), k = random_matrix(keys, kv_heads * d_head, 2),
               v = random_matrix(keys, kv_heads * d_value, 3);
  Matrix additive = random_matrix(queries, keys, 4);
  additive(7, 3) = -std::numeric_limits<double>::infinity();
  additive.row(9).setConstant(-std::numeric_limits<double>::infinity());
  for (const bool causal : {false, true})
    for (const Index n : {keys, Index{77}, Index{0}})
      for (const bool added : {false, true}) {
        const Mask<double> mask{causal, added ? MatrixView(additive.leftCols(n)) : MatrixView()};
        const HeadInputs<double> inputs{q, k.topRows(n), v.topRows(n), heads, kv_heads, 0.7};
        const Attention direct = reference::direct_attention(inputs, mask);
        Compare compare(direct.weights);
        const std::array<Probe*, 1> probes{&compare};
        const Matrix output = attend<double>(inputs, mask, {}, probes);
        CAPTURE(causal, n, added);
        CHECK(compare.rows == queries);
        CHECK(compare.widest < queries);
        CHECK(compare.difference <= 100 * eps);
        CHECK((output - direct.output).cwiseAbs().maxCoeff() <= 1000 * eps);
        CHECK(output.allFinite());
      }
}

TEST_CASE("tiles of very many keys are lower, and those of many say the same") {
  CHECK(tile_rows(0) == 64);
  CHECK(tile_rows(65536) == 64);
  CHECK(tile_rows(131072) == 32);
  CHECK(tile_rows(100'000'000) == 16);
  const Matrix q = random_matrix(300, 4, 8), k = random_matrix(5000, 4, 9), v = random_matrix(5000, 6, 10);
  const HeadInputs<double> inputs{q, k, v, 2, 2, 0.7};
  const Attention direct = reference::direct_attention(inputs, {});
  Compare compare(direct.weights);
  const std::array<Probe*, 1> probes{&compare};
  CHECK((attend<double>(inputs, {}, {}, probes) - direct.output).cwiseAbs().maxCoeff() <= 1000 * eps);
  CHECK(compare.rows == 300);
  CHECK(compare.widest == 64);
  CHECK(compare.difference <= 100 * eps);
}

TEST_CASE("float agrees with double to float's rounding") {
  const Matrix q = random_matrix(70, 16, 5), k = random_matrix(70, 16, 6), v = random_matrix(70, 16, 7);
  const Matrix32 q32 = q.cast<float>(), k32 = k.cast<float>(), v32 = v.cast<float>();
  const Matrix wide = attend<double>({q, k, v, 2, 2, 0.35}, {}, {}, {});
  const Matrix32 narrow = attend<float>({q32, k32, v32, 2, 2, 0.35}, {}, {}, {});
  CHECK((wide - narrow.cast<double>()).cwiseAbs().maxCoeff() < 50 * std::numeric_limits<float>::epsilon());
}

TEST_CASE("attend refuses what does not fit") {
  const Matrix q = random_matrix(4, 6, 1), k = random_matrix(5, 6, 2), v = random_matrix(5, 4, 3),
               short_v = random_matrix(4, 4, 3);
  CHECK_THROWS_WITH(attend<double>({q, k, v, 4, 4, 1}, {}, {}, {}),
                    ContainsSubstring("attend: the head widths differ: queries of width 6 for 4 heads, keys of"));
  CHECK_THROWS_WITH(attend<double>({q, k, v, 3, 2, 1}, {}, {}, {}),
                    ContainsSubstring("attend: 3 query heads cannot share 2 key heads evenly"));
  CHECK_THROWS_WITH(attend<double>({q, k, short_v, 2, 2, 1}, {}, {}, {}),
                    ContainsSubstring("attend: values are (4, 4), expected 5 rows and a width that 2 heads divide"));
  CHECK_THROWS_WITH(attend<double>({q, k, v, 2, 2, 1}, {false, q}, {}, {}),
                    ContainsSubstring("attend: the additive mask is (4, 6), expected (4, 5)"));
  CHECK_THROWS_WITH(multi_head_attention(q, k, {q, q, q, q, {}, {}, {}, {}, 1}),
                    ContainsSubstring("multi_head_attention: query weights have 4 rows, the states have width 6"));
  CHECK_THROWS_WITH(multi_head_attention(q, q, {q, q, q, q, {}, {}, {}, {}, 4}),
                    ContainsSubstring("4 heads do not divide the query width 6"));
  const Matrix square = random_matrix(6, 6, 4);
  const Vector short_bias = Vector::Zero(5);
  CHECK_THROWS_WITH(multi_head_attention(q, k, {square, square, square, square, {}, short_bias, {}, {}, 2}),
                    ContainsSubstring("key bias has 5 entries, expected 6"));
  CHECK_THROWS_WITH(scaled_dot_product_attention(q, v, v),
                    ContainsSubstring("attend: the head widths differ: queries of width 6 for 1 heads, keys of"));
  CHECK_THROWS_WITH(scaled_dot_product_attention(q, k, short_v),
                    ContainsSubstring("attend: values are (4, 4), expected 5 rows and a width that 1 heads divide"));
}

TEST_CASE("a sink takes part in the softmax and gives nothing, by hand") {
  // Two keys of scores 0 and ln 2, and a sink of ln 5: weights 1/8 and 2/8.
  Matrix query(1, 1), key(2, 1), value(2, 1);
  query << 1;
  key << 0, std::log(2.0);
  value << 8, 16;
  const Vector sink = Vector::Constant(1, std::log(5.0));
  HeadInputs<double> inputs{query, key, value, 1, 1, 1.0};
  inputs.sinks = sink;
  Matrix expected(1, 2);
  expected << 0.125, 0.25;
  const std::vector<Matrix> weights{expected};
  Compare compare(weights);
  const std::array<Probe*, 1> probes{&compare};
  const Matrix output = attend<double>(inputs, {}, {}, probes);
  CHECK(compare.difference <= 4 * eps);
  CHECK(output(0, 0) == Approx(5.0).epsilon(8 * eps));
  const Vector two = Vector::Zero(2);
  inputs.sinks = two;
  CHECK_THROWS_WITH(attend<double>(inputs, {}, {}, {}), ContainsSubstring("2 sinks, expected one for each of 1 heads"));
}

TEST_CASE("tiles agree with a direct computation, with sinks and in chunks") {
  const Index length = 150, heads = 4, kv_heads = 2, d_head = 5, d_value = 3;
  const Matrix q = random_matrix(length, heads * d_head, 1), k = random_matrix(length, kv_heads * d_head, 2),
               v = random_matrix(length, kv_heads * d_value, 3), additive = random_matrix(length, length, 4);
  Vector sinks(heads);
  sinks << -3, 0, 2, 40;  // the last leaves next to nothing for the keys
  for (const bool with_sinks : {false, true})
    for (const bool causal : {false, true})
      for (const Index chunk : {0, 1, 37, 64, 200}) {
        CAPTURE(with_sinks, causal, chunk);
        HeadInputs<double> inputs{q, k, v, heads, kv_heads, 0.7};
        if (with_sinks) inputs.sinks = sinks;
        const Mask<double> mask{causal, additive, 0, chunk};
        const Attention expected = reference::direct_attention(inputs, mask);
        Compare compare(expected.weights);
        const std::array<Probe*, 1> probes{&compare};
        const Matrix output = attend<double>(inputs, mask, {}, probes);
        CHECK(compare.difference <= 100 * eps);
        CHECK((output - expected.output).cwiseAbs().maxCoeff() <= 1000 * eps);
      }
}
