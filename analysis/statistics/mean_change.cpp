#include "mean_change.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>

#include <fmt/format.h>

#include "../../core/algebra/product.h"
#include "../../core/errors/error.h"
#include "../../core/numbers/random.h"
#include "../../core/process/threads.h"

namespace headwave {

namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();

/// Means of blocks of consecutive documents, as equal in size as possible.
std::vector<Matrix> block_means(const std::vector<Matrix>& set, Index block) {
  const Index documents = std::ssize(set), blocks = documents / block;
  std::vector<Matrix> means;
  for (Index b = 0; b < blocks; ++b) {
    const Index begin = b * documents / blocks, end = (b + 1) * documents / blocks;
    Matrix sum = set[static_cast<std::size_t>(begin)];
    for (Index d = begin + 1; d < end; ++d) sum += set[static_cast<std::size_t>(d)];
    means.emplace_back(sum / static_cast<double>(end - begin));
  }
  return means;
}

/// The share of assignments that equal the observed one or its mirror image.
double least_level(Index n1, Index n2, bool paired) {
  if (paired) return std::min(1.0, std::exp2(1 - static_cast<double>(n1)));
  double ways = 1;
  for (Index i = 1; i <= std::min(n1, n2); ++i)
    ways *= static_cast<double>(std::max(n1, n2) + i) / static_cast<double>(i);
  return std::min(1.0, (n1 == n2 ? 2 : 1) / ways);
}

/// (documents, columns)  Row r of every document.
Matrix row_of(const std::vector<Matrix>& set, Index r) {
  Matrix row(static_cast<Index>(set.size()), set[0].cols());
  for (Index d = 0; d < row.rows(); ++d) row.row(d) = set[static_cast<std::size_t>(d)].row(r);
  return row;
}

/// (draws + 1, blocks): the sign of each block, or 1 if it is in the first set. The first row is as observed.
Matrix assignments(Index documents, Index of_first, bool paired, const MeanChangeOptions& options) {
  Random random(options.seed);
  Matrix drawn = Matrix::Zero(options.draws + 1, documents);
  std::vector<Index> order(static_cast<std::size_t>(documents));
  std::iota(order.begin(), order.end(), Index{0});
  for (Index draw = 0; draw <= options.draws; ++draw) {
    if (paired) {
      for (Index d = 0; d < documents; ++d) drawn(draw, d) = draw == 0 || random.below(2) == 0 ? 1 : -1;
      continue;
    }
    if (draw > 0) random.shuffle(order);
    for (Index d = 0; d < of_first; ++d) drawn(draw, order[static_cast<std::size_t>(d)]) = 1;
  }
  return drawn;
}

struct Standardised {
  Matrix change, error;  // (draws + 1, columns)
};

/// Equation (2).
Standardised of_pairs(const Matrix& difference, const Matrix& signs, const Eigen::RowVectorXd& rounding) {
  const auto n = static_cast<double>(difference.rows());
  Standardised found{product(signs, difference) / n, {}};
  const Eigen::RowVectorXd squares = difference.colwise().squaredNorm() / n;
  found.error = (squares.replicate(signs.rows(), 1).array() - found.change.array().square()).max(0.0) / (n - 1);
  found.error = (found.error.array() + rounding.replicate(signs.rows(), 1).array().square()).sqrt();
  return found;
}

/// Equation (1).
Standardised of_sets(const Matrix& all, const Matrix& member, double n1, const Eigen::RowVectorXd& rounding) {
  const double n2 = static_cast<double>(all.rows()) - n1;
  const Eigen::RowVectorXd middle = all.colwise().mean();
  const Matrix centred = all.rowwise() - middle, squared = centred.array().square();
  const Matrix sum1 = product(member, centred), square1 = product(member, squared);
  const Matrix sum2 = centred.colwise().sum().replicate(member.rows(), 1) - sum1;
  const Matrix square2 = squared.colwise().sum().replicate(member.rows(), 1) - square1;
  const auto variance = [](const Matrix& sum, const Matrix& square, double n) -> Matrix {
    return (square.array() - sum.array().square() / n).max(0.0) / ((n - 1) * n);
  };
  Standardised found{sum2 / n2 - sum1 / n1, variance(sum1, square1, n1) + variance(sum2, square2, n2)};
  found.error = (found.error.array() + rounding.replicate(member.rows(), 1).array().square()).sqrt();
  return found;
}

}  // namespace

Index blocks_for(double level, bool paired) {
  Index blocks = 2;
  while (least_level(blocks, blocks, paired) > level) ++blocks;
  return blocks;
}

bool MeanChange::beyond(Index row, Index column) const {
  return std::abs(difference(row, column)) > half_width(row, column);
}

MeanChange mean_change(const std::vector<Matrix>& first_set, const std::vector<Matrix>& second_set, bool paired,
                       const MeanChangeOptions& options) {
  if (!(options.level > 0 && options.level < 1) || options.draws < 1 || options.block < 0)
    throw NumericError(fmt::format(
        "mean_change: expected 0 < level < 1, draws >= 1 and block >= 0, found level = {}, draws = {} and block = {}",
        options.level, options.draws, options.block));
  const Index smaller = std::min(std::ssize(first_set), std::ssize(second_set));
  const Index block = options.block > 0 ? std::min(options.block, smaller)
                                        : std::max(Index{1}, smaller / blocks_for(options.level, paired));
  const std::vector<Matrix> first = block_means(first_set, block), second = block_means(second_set, block);
  const auto n1 = static_cast<Index>(first.size()), n2 = static_cast<Index>(second.size());
  const Index rows = first[0].rows(), cols = first[0].cols();
  const bool enough = n1 > 1 && n2 > 1;
  MeanChange result{Matrix(rows, cols),
                    Matrix(rows, cols),
                    Matrix::Constant(rows, cols, not_defined),
                    Matrix::Constant(rows, cols, not_defined),
                    infinite,
                    paired,
                    block,
                    n1,
                    n2,
                    enough ? least_level(n1, n2, paired) : 1};
  const Matrix drawn = assignments(paired ? n1 : n1 + n2, n1, paired, options);
  Matrix largest = Matrix::Zero(rows, drawn.rows());
  parallel_for(rows, thread_count(options.threads), [&](Index r) {
    Matrix all(n1 + n2, cols);
    all << row_of(first, r), row_of(second, r);
    result.first.row(r) = all.topRows(n1).colwise().mean();
    result.second.row(r) = all.bottomRows(n2).colwise().mean();
    if (!enough) return;
    const Eigen::RowVectorXd size = all.cwiseAbs().colwise().mean();
    const Eigen::RowVectorXd rounding =
        8.0 * std::numeric_limits<float>::epsilon() * size.array() + std::numeric_limits<double>::min();
    const Standardised found = paired ? of_pairs(all.bottomRows(n2) - all.topRows(n1), drawn, rounding)
                                      : of_sets(all, drawn, static_cast<double>(n1), rounding);
    for (Index c = 0; c < cols; ++c) {
      if (!std::isfinite(size[c])) continue;
      result.error(r, c) = found.error(0, c);
      result.rounding(r, c) = rounding[c];
      const Vector t = (found.change.col(c).array().abs() - rounding[c]).max(0.0) / found.error.col(c).array();
      largest.row(r) = largest.row(r).cwiseMax(t.transpose());
    }
  });
  std::vector<double> most(static_cast<std::size_t>(drawn.rows()), 0.0);
  for (Index draw = 0; draw < drawn.rows() && rows > 0; ++draw)
    most[static_cast<std::size_t>(draw)] = largest.col(draw).maxCoeff();
  const auto rank = static_cast<std::ptrdiff_t>(std::floor(options.level * static_cast<double>(drawn.rows()) + 1e-9));
  // No change lies beyond the largest of all draws, of which the observed one is one.
  if (!enough || rank < 2 || result.least_level > options.level) return result;
  std::nth_element(most.begin(), most.begin() + (rank - 1), most.end(), std::greater<>());
  // Equivalent assignments, such as mirror images, differ by rounding.
  result.factor = most[static_cast<std::size_t>(rank - 1)] * (1 + 1e-9);
  return result;
}

}  // namespace headwave
