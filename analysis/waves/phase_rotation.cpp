#include "phase_rotation.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>

#include <Eigen/Eigenvalues>
#include <fmt/format.h>

#include "../../core/algebra/decompositions.h"
#include "../../core/algebra/product.h"

namespace headwave {

namespace {

/// Descending modulus, conjugate pairs together with the positive phase first. Moduli that differ by rounding
/// alone are equal: the order must not depend on the last digit.
std::vector<Index> order_of(const Eigen::VectorXcd& values) {
  std::vector<Index> order(static_cast<std::size_t>(values.size()));
  std::iota(order.begin(), order.end(), Index{0});
  std::sort(order.begin(), order.end(), [&](Index a, Index b) { return std::abs(values[a]) > std::abs(values[b]); });
  // Groups of equal modulus, each by phase.
  const double equal = 64 * std::numeric_limits<double>::epsilon() * static_cast<double>(values.size());
  for (auto first = order.begin(); first != order.end();) {
    auto last = first + 1;
    while (last != order.end() && std::abs(values[*(last - 1)]) - std::abs(values[*last]) < equal) ++last;
    std::sort(first, last, [&](Index a, Index b) {
      const double pa = std::arg(values[a]), pb = std::arg(values[b]);
      return std::abs(pa) == std::abs(pb) ? pa > pb : std::abs(pa) < std::abs(pb);
    });
    first = last;
  }
  return order;
}

/// A real matrix with the singular values of the eigenvectors of a real one: p and its conjugate, side by
/// side, are sqrt(2) (Re p, Im p) times a unitary matrix.
Eigen::MatrixXd real_form(const Eigen::MatrixXcd& vectors) {
  Eigen::MatrixXd real = vectors.real();
  for (Index c = 0; c + 1 < vectors.cols(); ++c) {
    if (vectors.col(c).imag().isZero(0)) continue;
    real.col(c) = std::numbers::sqrt2 * vectors.col(c).real();
    real.col(c + 1) = std::numbers::sqrt2 * vectors.col(c).imag();
    ++c;
  }
  return real;
}

/// Re p and Im p of every direction p; a conjugate pair shares them.
struct RealColumns {
  Matrix columns;            ///< (k, 2 directions at most)
  std::vector<Index> first;  ///< of a direction, the column of its real part
  Vector sign;               ///< (directions)  -1 of a conjugate

  explicit RealColumns(const MatrixC& directions)
      : columns(directions.rows(), 2 * directions.cols()), sign(Vector::Ones(directions.cols())) {
    Index used = 0;
    for (Index i = 0; i < directions.cols(); ++i) {
      const auto p = directions.col(i);
      if (i > 0 && sign[i - 1] > 0 && p == directions.col(i - 1).conjugate()) {
        first.push_back(first.back());
        sign[i] = -1;
        continue;
      }
      first.push_back(used);
      columns.col(used++) = p.real();
      columns.col(used++) = p.imag();
    }
    columns.conservativeResize(Eigen::NoChange, used);
  }
};

/// |V| |V^-1|
double condition_of(const Eigen::MatrixXd& v) {
  const Vector sizes = thin_svd(v).s;
  const double condition = sizes[0] / sizes[sizes.size() - 1];
  return std::isfinite(condition) ? condition : std::numeric_limits<double>::infinity();
}

}  // namespace

PhaseRotation phase_rotation(const QkSvd& svd) {
  if (svd.rank() == 0) return {};
  const Index k = svd.rank();
  const Eigen::EigenSolver<Eigen::MatrixXd> solver(product(svd.query.transpose(), svd.key));
  if (solver.info() != Eigen::Success)
    throw NumericError(fmt::format("phase_rotation: the eigenvalues of a {0} x {0} rotation did not converge", k));
  const Eigen::VectorXcd& values = solver.eigenvalues();
  const Eigen::MatrixXcd vectors = solver.eigenvectors().colwise().normalized();
  PhaseRotation rotation{Vector(k), Vector(k), MatrixC(k, k), condition_of(real_form(vectors))};
  const std::vector<Index> order = order_of(values);
  for (Index i = 0; i < k; ++i) {
    const Index from = order[static_cast<std::size_t>(i)];
    const double phase = std::arg(values[from]);
    rotation.phase[i] = phase == -std::numbers::pi ? std::numbers::pi : phase;
    rotation.retention[i] = std::abs(values[from]);
    rotation.direction.col(i) = vectors.col(from);
  }
  return rotation;
}

Matrix direction_spectra(const MatrixC& spectrum, const PhaseRotation& rotation) {
  if (spectrum.cols() != rotation.rank())
    throw ShapeError(
        fmt::format("direction_spectra: {} columns for a rotation of rank {}", spectrum.cols(), rotation.rank()));
  const RealColumns real(rotation.direction);
  const Matrix seen = product(stacked_parts(spectrum), real.columns);
  const auto query = seen.topRows(spectrum.rows()), turned = seen.bottomRows(spectrum.rows());
  Matrix amplitude(spectrum.rows(), rotation.rank());
  for (Index i = 0; i < amplitude.cols(); ++i) {
    const Index at = real.first[static_cast<std::size_t>(i)];
    const double sign = real.sign[i];
    amplitude.col(i) = ((query.col(at) - sign * turned.col(at + 1)).cwiseAbs2() +
                        (turned.col(at) + sign * query.col(at + 1)).cwiseAbs2())
                           .cwiseSqrt();
  }
  return amplitude;
}

Index phase_bin(double phase, Index bins) {
  const auto turns = static_cast<Index>(std::lround(phase / (2 * std::numbers::pi) * static_cast<double>(bins)));
  return ((turns + (bins - 1) / 2) % bins + bins) % bins;
}

}  // namespace headwave
