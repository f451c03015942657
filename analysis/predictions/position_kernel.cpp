#include "position_kernel.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include <fmt/format.h>

#include "../../core/algebra/product.h"
#include "../../core/algebra/random_frame.h"
#include "../../core/algebra/thin_qr.h"
#include "../../core/numbers/lagged_sums.h"
#include "../../core/process/threads.h"
#include "../statistics/quantile.h"

namespace headwave {

namespace {

/// Equations (3) and (4).
struct ToeplitzShares {
  double all = not_defined, others = not_defined;
};

/// @param rounding  energies up to here are none
ToeplitzShares toeplitz_shares(const Vector& sums, double energy, double rounding) {
  const Index length = (sums.size() + 1) / 2;
  const auto explained = [&](Index t) {
    return sums[t + length - 1] * sums[t + length - 1] / static_cast<double>(length - std::abs(t));
  };
  double others = 0;
  for (Index t = 1; t < length; ++t) others += explained(t) + explained(-t);
  const double rest = energy - explained(0);
  ToeplitzShares shares;
  if (energy > rounding) shares.all = (others + explained(0)) / energy;
  if (rest > rounding) shares.others = others / rest;
  return shares;
}

/// Means along diagonals of what is the same in every row.
/// @param row  (T)
Vector means_along(const Vector& row) {
  const Index length = row.size();
  Vector sums = Vector::Zero(length + 1), means(2 * length - 1);
  for (Index j = 0; j < length; ++j) sums[j + 1] = sums[j] + row[j];
  for (Index t = 1 - length; t < length; ++t)
    means[t + length - 1] =
        (sums[std::min(length, length + t)] - sums[std::max<Index>(0, t)]) / static_cast<double>(length - std::abs(t));
  return means;
}

}  // namespace

PositionNull::PositionNull(MatrixView positions, Index d_head, const PositionNullOptions& options) : options_(options) {
  if (d_head > positions.cols())
    throw ShapeError(fmt::format("PositionNull: heads of width {} in states of width {}", d_head, positions.cols()));
  spectra_.resize(static_cast<std::size_t>(std::max<Index>(0, options.draws)));
  grams_.resize(spectra_.size());
  parallel_for(draws(), options.threads, [&](Index draw) {
    Random random = Random(options.seed).stream(static_cast<std::uint64_t>(draw));
    Matrix seen = product(positions, random_frame(positions.cols(), d_head, random));
    seen.rowwise() -= seen.colwise().mean().eval();
    spectra_[static_cast<std::size_t>(draw)] = padded_spectrum(seen);
    grams_[static_cast<std::size_t>(draw)] = gram_of(seen);
  });
}

PositionKernel position_kernel(MatrixView positions, const HeadWeights& head, const PositionNull& null) {
  const Index length = positions.rows();
  if (length < 1 || positions.cols() != head.query.rows() || head.key.rows() != head.query.rows() ||
      head.key.cols() != head.query.cols())
    throw ShapeError(
        fmt::format("position_kernel: positions ({}, {}), W_Q ({}, {}), W_K ({}, {}); expected rows, and "
                    "weights of their width",
                    length, positions.cols(), head.query.rows(), head.query.cols(), head.key.rows(), head.key.cols()));
  const Matrix a = product(positions, head.query);
  Matrix b = product(positions, head.key);
  const double rounding =
      std::numeric_limits<double>::epsilon() * static_cast<double>(length) * a.squaredNorm() * b.squaredNorm();
  b.rowwise() -= b.colwise().mean().eval();  // takes the row means of A B^T away
  const MatrixC spectrum_a = padded_spectrum(a), spectrum_b = padded_spectrum(b);
  if (null.draws() > 0 &&
      (null.spectrum(0).rows() != spectrum_a.rows() || null.spectrum(0).cols() != spectrum_a.cols()))
    throw ShapeError(
        fmt::format("position_kernel: a null of spectra ({}, {}) for spectra ({}, {}); expected one of the "
                    "same positions and head width",
                    null.spectrum(0).rows(), null.spectrum(0).cols(), spectrum_a.rows(), spectrum_a.cols()));
  const Vector sums = lagged_sums(spectrum_a, spectrum_b);
  const Matrix gram_a = gram_of(a);
  const double energy = gram_a.cwiseProduct(gram_of(b)).sum();
  const ToeplitzShares shares = toeplitz_shares(sums, energy, rounding);

  PositionKernel result;
  result.kernel.resize(2 * length - 1);
  for (Index t = 1 - length; t < length; ++t)
    result.kernel[t + length - 1] = sums[t + length - 1] / static_cast<double>(length - std::abs(t));
  result.toeplitz_r2 = shares.all;
  result.other_r2 = shares.others;

  const bool drawn = null.draws() > 0 && !std::isnan(shares.all);
  const Matrix factor = drawn ? thin_qr(head.key).r : Matrix();
  std::vector<double> null_shares;
  result.null_other_r2.resize(drawn ? null.draws() : 0);
  for (Index draw = 0; draw < result.null_other_r2.size(); ++draw) {
    const MatrixC turned = product_with_real(null.spectrum(draw), factor);
    const Matrix turned_gram = product(factor.transpose(), product(null.gram(draw), factor));
    const double turned_energy = gram_a.cwiseProduct(turned_gram).sum();
    const ToeplitzShares random = toeplitz_shares(lagged_sums(spectrum_a, turned), turned_energy, rounding);
    null_shares.push_back(random.all);
    result.null_other_r2[draw] = random.others;
  }
  result.null_median = drawn ? quantile(null_shares, 0.5) : not_defined;
  result.null_quantile = drawn ? quantile(null_shares, 1 - null.options().level) : not_defined;

  // With the bias every row gains b_Q . k_j; the rows' own part adds up over rows as energy and a cross term.
  const Vector key_only = product(b, head.query_bias);
  result.with_bias = result.kernel + means_along(key_only);
  const double alone = static_cast<double>(length) * key_only.squaredNorm();
  const double whole = energy + alone + 2 * a.colwise().sum().dot(product(b.transpose(), key_only));
  result.key_only_share = whole > 0 ? alone / whole : 0.0;
  return result;
}

}  // namespace headwave
