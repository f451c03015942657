#include "qk_svd.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>
#include <ranges>

#include <Eigen/Eigenvalues>
#include <fmt/format.h>

#include "../../core/algebra/decompositions.h"
#include "../../core/algebra/product.h"
#include "../../core/fields/fields.h"
#include "../../core/process/threads.h"

namespace headwave {

namespace {

Index numerical_rank(const Vector& gain, Index largest_size) {
  const double cut = static_cast<double>(largest_size) * std::numeric_limits<double>::epsilon() * gain[0];
  Index rank = 0;
  while (rank < gain.size() && gain[rank] > cut) ++rank;
  return rank;
}

/// The sign that makes each column's entry of largest modulus (of equals, the first) positive.
Vector signs_of(const Matrix& columns) {
  Eigen::RowVectorXd largest = Eigen::RowVectorXd::Zero(columns.cols());
  for (Index row = 0; row < columns.rows(); ++row)
    largest = (columns.row(row).array().abs() > largest.array().abs()).select(columns.row(row), largest);
  return (largest.array() < 0).select(Vector::Constant(columns.cols(), -1).transpose(), 1.0).transpose();
}

/// Order by descending modulus, then by ascending |phase|, the positive phase of a conjugate pair first.
/// Moduli that differ by rounding are equal, so that the order does not depend on the last digit.
std::vector<Index> order_of(const Eigen::VectorXcd& values) {
  std::vector<Index> order(static_cast<std::size_t>(values.size()));
  std::iota(order.begin(), order.end(), Index{0});
  std::sort(order.begin(), order.end(), [&](Index a, Index b) { return std::abs(values[a]) > std::abs(values[b]); });
  // Within groups of equal modulus: by phase.
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

/// A real matrix with the same singular values as the eigenvectors of a real one: the columns of p and its
/// conjugate are sqrt(2) (Re p, Im p) times a unitary matrix.
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
  std::vector<Index> first;  ///< (directions)  column of the real part
  Vector sign;               ///< (directions)  -1: a conjugate

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

/// One vector per head, filled up with NaN.
template <class VectorOfHead>
Matrix by_component(const std::vector<ChainHead>& heads, Index components, const VectorOfHead& vector_of) {
  Matrix values = Matrix::Constant(std::ssize(heads), components, not_defined);
  for (std::size_t row = 0; row < heads.size(); ++row) {
    const Vector vector = vector_of(heads[row]);
    values.row(static_cast<Index>(row)).head(vector.size()) = vector.transpose();
  }
  return values;
}

/// Fields that depend on the weights alone.
std::vector<Field> fields_of(const std::vector<ChainHead>& heads, const HeadGrid& grid) {
  const Axis layer = layer_axis(grid.layers), head = head_axis(grid.heads);
  Index components = 0;
  for (const ChainHead& one : heads) components = std::max<Index>(components, one.svd.gain.size());
  const Axis direction =
      counting_axis("direction", "1", "eigenvector of M = U_Q^T U_K, by descending retention", 1, components);
  const char* const beyond = "beyond the head's numerical rank";
  Fields svd("qk_svd");
  svd.add("gain", {layer, head, component_axis(components)}, "1",
          "singular values of W_Q W_K^T, without the score scale",
          by_component(heads, components, [](const ChainHead& h) { return h.svd.gain; }));
  svd.add("rank", {layer, head}, "1", "numerical rank of W_Q W_K^T", heads | std::views::transform(&ChainHead::rank))
      .note("cut", "singular values above max(d_model, d_head) eps times the largest");
  Fields rotation("phase_rotation");
  rotation
      .add("phase", {layer, head, direction}, "rad", "phase by which keys run ahead of queries, by direction",
           by_component(heads, components, [](const ChainHead& h) { return h.rotation.phase; }))
      .undefined(beyond)
      .note("sign", "attention lands at t* = -T theta / (2 pi f)");
  rotation
      .add("retention", {layer, head, direction}, "1", "share of a direction that keys read as queries do, |lambda|",
           by_component(heads, components, [](const ChainHead& h) { return h.rotation.retention; }))
      .undefined(beyond);
  rotation.add("condition", {layer, head}, "1", "condition number of the rotation's eigenvectors",
               heads | std::views::transform([](const ChainHead& h) { return h.rotation.condition; }));
  return svd.append(rotation.taken()).taken();
}

struct QkSvdAnalysis : Analysis {
  using Analysis::Analysis;
  void prepare(Finished& finished) override {
    finished.keep(ChainHeads{chain_heads(stack(), site().grid, input().threads)});
  }
  [[nodiscard]] std::vector<Field> finish(Finished& finished) override {
    return before_position_term(fields_of(finished.get<ChainHeads>().heads, site().grid), stack());
  }
};

}  // namespace

QkSvd qk_svd(MatrixView w_query, MatrixView w_key) {
  if (w_query.rows() != w_key.rows() || w_query.cols() != w_key.cols() || w_query.empty())
    throw ShapeError(
        fmt::format("qk_svd: W_Q is ({}, {}) and W_K ({}, {}); expected the same (d_model, d_head) for both, not empty",
                    w_query.rows(), w_query.cols(), w_key.rows(), w_key.cols()));
  if (!are_finite(w_query) || !are_finite(w_key))
    throw NumericError("qk_svd: a weight is not finite; look for NaN or infinity in the checkpoint");
  const ThinQr query = thin_qr(w_query), key = thin_qr(w_key);
  const ThinSvd svd = thin_svd(product(query.r, key.r.transpose()));

  QkSvd result;
  result.gain = svd.s;
  const Index rank = numerical_rank(result.gain, std::max(w_query.rows(), w_query.cols()));
  result.query = product(query.q, svd.u.leftCols(rank));
  const Vector signs = signs_of(result.query);
  const Vector share = signs.cwiseQuotient(result.gain.head(rank));
  result.query *= signs.asDiagonal();
  result.key = product(key.q, svd.v.leftCols(rank) * signs.asDiagonal());
  // W_K^T U_K = R_k^T V, and W_Q^T U_Q = R_q^T U.
  result.from_query = product(key.r.transpose(), svd.v.leftCols(rank)) * share.asDiagonal();
  result.from_key = product(query.r.transpose(), svd.u.leftCols(rank)) * share.asDiagonal();
  return result;
}

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
        fmt::format("direction_spectra: the spectrum has {} columns, expected {}, the rank of the rotation",
                    spectrum.cols(), rotation.rank()));
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

std::vector<ChainHead> chain_heads(const Stack& stack, const HeadGrid& grid, int threads) {
  std::vector<ChainHead> heads(static_cast<std::size_t>(grid.rows()));
  parallel_for(grid.rows(), threads, [&](Index row) {
    const Index layer = grid.layers[static_cast<std::size_t>(row / grid.heads)];
    const HeadWeights weights = head_weights(stack.queries_and_keys(layer)->self, stack.block, row % grid.heads);
    ChainHead& head = heads[static_cast<std::size_t>(row)];
    head.svd = qk_svd(weights.query, weights.key);
    head.rank = head.svd.rank();
    head.rotation = phase_rotation(head.svd);
    head.svd.query.resize(0, 0);
    head.svd.key.resize(0, 0);
  });
  return heads;
}

Axis component_axis(Index components) {
  return counting_axis("component", "1", "pair of directions, by descending gain", 1, components);
}

std::vector<Field> before_position_term(std::vector<Field> fields, const Stack& stack) {
  if (stack.position_term)
    for (Field& field : fields)
      field.attributes["position_term"] =
          fmt::format("left out: queries and keys before {}", stack.position_term.name());
  if (stack.block.soft_cap > 0)
    for (Field& field : fields) field.attributes["soft_cap"] = std::string("left out: scores before it");
  return fields;
}

extern const AnalysisKind qk_svd_analysis{
    .name = "qk_svd",
    .asks = "What does each head match, from its weights: gains, rank, phases, retention?",
    .chain = true,
    .make = make_of<QkSvdAnalysis>};

}  // namespace headwave
