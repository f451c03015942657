#include <cmath>

#include "../../analysis/attention/measured_offset.h"
#include "../../analysis/waves/delay.h"
#include "../../analysis/waves/qk_svd.h"
#include "../../analysis/waves/wave_chain.h"
#include "../../analysis/why/position_atlas.h"
#include "../catch.h"

using namespace headwave;

TEST_CASE("delays are refused of cross-spectra that have not the rows of their length") {
  const MatrixC cross = MatrixC::Ones(5, 2);  // of 8 or 9 tokens
  CHECK(delays(cross, 8).size() == 2);
  for (const Index length : {0, 7, 10})
    CHECK_THROWS_WITH(delays(cross, length),
                      ContainsSubstring("delays: expected T >= 1 and a cross-spectrum of floor(T/2) + 1 rows, found"));
}

TEST_CASE("a query-key form is refused of weights that do not fit, are empty or not finite") {
  const Matrix query = Matrix::Identity(4, 2), other = Matrix::Identity(4, 3), none(0, 2);
  CHECK(qk_svd(query, query).gain.size() == 2);
  CHECK_THROWS_WITH(qk_svd(query, other), ContainsSubstring("qk_svd: W_Q is (4, 2) and W_K (4, 3)"));
  CHECK_THROWS_WITH(qk_svd(none, none), ContainsSubstring("qk_svd: W_Q is (0, 2) and W_K (0, 2)"));
  const Matrix broken = Matrix::Constant(4, 2, std::nan(""));
  CHECK_THROWS_WITH(qk_svd(query, broken), ContainsSubstring("qk_svd: a weight is not finite"));
  CHECK_THROWS_WITH(qk_svd(broken, query), ContainsSubstring("look for NaN"));
}

TEST_CASE("a chain and an atlas are refused of a model with NaN among its weights, or too few positions") {
  const Matrix32 positions = Matrix32::Random(6, 4), weight = Matrix32::Identity(4, 4);
  const Matrix32 broken = Matrix32::Constant(4, 4, std::nanf(""));
  Stack stack;
  stack.block.heads = stack.block.kv_heads = 2;
  stack.block.d_head = 2;
  stack.embedding.words = stack.embedding.positions = positions;
  stack.blocks.resize(1);
  stack.blocks[0].self.query.weight = weight;
  stack.blocks[0].self.key.weight = weight;
  const HeadGrid grid{{0}, 2};
  CHECK(chain_heads(stack, grid, 1).size() == 2);
  PositionAtlasOptions options;
  options.length = 7;
  CHECK_THROWS_WITH(position_atlas(stack, options),
                    ContainsSubstring("position_atlas: a length of 7 tokens was requested, but the model has 6"));
  CHECK_THROWS_WITH(position_atlas(stack, options),
                    ContainsSubstring("a length of 7 tokens was requested, but the model has 6"));
  stack.blocks[0].self.key.weight = broken;
  CHECK_THROWS_WITH(chain_heads(stack, grid, 1), ContainsSubstring("qk_svd: a weight is not finite"));
}

TEST_CASE("heads are followed where the weights have them, and directions where the rotation is theirs") {
  const Matrix32 weight = Matrix32::Identity(4, 4);
  Stack stack;
  stack.block.heads = stack.block.kv_heads = 2;
  stack.block.d_head = 2;
  stack.blocks.resize(1);
  stack.blocks[0].self.query.weight = weight;
  stack.blocks[0].self.key.weight = weight;
  CHECK_THROWS_WITH(chain_heads(stack, {{0}, 3}, 1),
                    ContainsSubstring("head_weights: there is no head 2 among 2 heads (counted from 0)"));
  CHECK_THROWS_WITH(chain_heads(stack, {{0}, 3}, 2), ContainsSubstring("no head 2 among 2"));
  const Matrix side = Matrix::Identity(4, 2);
  const PhaseRotation rotation = phase_rotation(qk_svd(side, side));
  CHECK(direction_spectra(MatrixC::Ones(3, 2), rotation).cols() == 2);
  CHECK_THROWS_WITH(direction_spectra(MatrixC::Ones(3, 3), rotation),
                    ContainsSubstring("direction_spectra: the spectrum has 3 columns, expected 2, the rank of the"));
}

TEST_CASE("measured offsets are refused at a level that is no chance") {
  OffsetTraces traces;
  traces.length = 1;
  for (const double level : {0.0, -0.1, 1.0, std::nan("")})
    CHECK_THROWS_WITH(measured_offsets(traces, {level}),
                      ContainsSubstring("normal_quantile: expected a tail probability between 0 and 1, both"));
}
