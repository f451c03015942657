#include "vector_scores.h"

#include <cmath>

#include "../../core/algebra/product.h"
#include "../../core/algebra/symmetric_eigen.h"

namespace headwave {

VectorSums::VectorSums(Index rows, Index d_head, Index pairs)
    : sum(Matrix::Zero(rows, d_head)),
      squares(sum),
      norm(Matrix::Zero(rows, 1)),
      pair_norm(Matrix::Zero(rows, pairs)),
      share(rows, 1) {}

void VectorSums::add(const VectorSums& more) {
  sum += more.sum;
  squares += more.squares;
  norm += more.norm;
  pair_norm += more.pair_norm;
  share.join(more.share);
}

double rank_one_share(const Matrix& vectors) {
  const Matrix gram = gram_of(vectors);
  const double all = gram.trace();
  if (!(all > 0)) return not_defined;
  return symmetric_eigenvalues(gram)[gram.rows() - 1] / all;
}

void set_vectors(VectorSums& sums, MatrixView32 vectors, const RotaryTerm* rotary, Index row) {
  const Index d_head = sums.sum.cols(), heads = vectors.cols() / d_head;
  Matrix shares = Matrix::Constant(sums.sum.rows(), 1, not_defined);
  for (Index head = 0; head < heads; ++head) {
    const Matrix own = vectors.middleCols(head * d_head, d_head).cast<double>();
    const Index at = row + head;
    sums.sum.row(at) = own.colwise().sum();
    sums.squares.row(at) = own.colwise().squaredNorm();
    sums.norm(at, 0) = own.rowwise().norm().sum();
    shares(at, 0) = rank_one_share(own);
    for (Index pair = 0; rotary != nullptr && 2 * pair < rotary->options().channels; ++pair) {
      const auto [a, b] = channels_of(rotary->options(), pair);
      sums.pair_norm(at, pair) = (own.col(a).array().square() + own.col(b).array().square()).sqrt().sum();
    }
  }
  sums.share.add(shares);
}

VectorScores vector_scores(const VectorSums& sums, const HeadGrid& grid, const std::vector<const RotaryTerm*>& rotary,
                           double massive) {
  const Index layers = std::ssize(grid.layers), own_heads = sums.sum.rows() / layers;
  const Matrix share = sums.share.value();
  VectorScores scores;
  scores.rank_one_share = scores.resultant_length = scores.massive_values = scores.massive_ratio =
      scores.massive_channel = Vector(grid.rows());
  scores.pair_resultant_length = Matrix::Constant(grid.rows(), sums.pair_norm.cols(), not_defined);
  for (Index l = 0; l < layers; ++l)
    for (Index head = 0; head < grid.heads; ++head) {
      const Index row = l * grid.heads + head, from = l * own_heads + head / (grid.heads / own_heads);
      scores.rank_one_share[row] = share(from, 0);
      scores.resultant_length[row] = sums.sum.row(from).norm() / sums.norm(from, 0);
      const Vector size = sums.squares.row(from).cwiseSqrt().transpose();
      Index largest = 0;
      scores.massive_ratio[row] = size.maxCoeff(&largest) / size.mean();
      scores.massive_channel[row] = static_cast<double>(largest);
      scores.massive_values[row] = static_cast<double>((size.array() > massive * size.mean()).count());
      const RotaryTerm* term = rotary[static_cast<std::size_t>(l)];
      for (Index pair = 0; term != nullptr && 2 * pair < term->options().channels; ++pair) {
        const auto [a, b] = channels_of(term->options(), pair);
        scores.pair_resultant_length(row, pair) =
            std::hypot(sums.sum(from, a), sums.sum(from, b)) / sums.pair_norm(from, pair);
      }
    }
  return scores;
}

}  // namespace headwave
