#pragma once

// Heads that read waves, as core/planted/planted.h plants them, but straight from their matrices and in double.

#include <cmath>
#include <complex>
#include <memory>
#include <numbers>
#include <string>
#include <variant>
#include <vector>

#include "../../analysis/waves/cross_covariance.h"
#include "../../analysis/waves/phase_delay.h"
#include "../../core/algebra/decompositions.h"
#include "../reference/cross_spectrum.h"

namespace headwave {

/// S[i, j] = sum_m a_m cos(w_m (j - i) + turn_m) with w_m = 2 pi f_m / T; a delay t* is turn_m = -w_m t*.
struct WaveSpec {
  Index length = 512;  ///< T
  Index d_model = 96, d_head = 32;
  std::vector<double> frequencies;  ///< f_m, cycles per T tokens
  std::vector<double> amplitudes;   ///< a_m
  std::vector<double> turns;        ///< radians by which the keys' wave runs ahead of the queries'
  double tilt = 0;                  ///< radians between the plane that queries read and the one that keys read
  std::uint64_t seed = 1;           ///< of the planes

  [[nodiscard]] Index waves() const { return static_cast<Index>(frequencies.size()); }
  [[nodiscard]] double angular(Index m) const {
    return 2 * std::numbers::pi * frequencies[static_cast<std::size_t>(m)] / static_cast<double>(length);
  }
};

/// All waves of a spec with one delay.
inline WaveSpec delayed(WaveSpec spec, double offset) {
  spec.turns.clear();
  for (Index m = 0; m < spec.waves(); ++m) spec.turns.push_back(-spec.angular(m) * offset);
  return spec;
}

inline WaveSpec fixture_1() {
  WaveSpec spec;
  spec.frequencies = {37.3, 41.6, 46.2, 50.4, 53.7, 61.8};
  spec.amplitudes = {2, 1.8, 1.6, 1.4, 1.2, 1};
  return delayed(spec, -2);
}

inline WaveSpec fixture_2() {
  WaveSpec spec;
  spec.frequencies = {37, 41, 46, 50, 53, 62};
  spec.amplitudes.assign(6, 1.6);
  return delayed(spec, -1);
}

/// What a head is made of. P = waves.
struct WaveMatrices {
  Matrix basis;   ///< (d_model, 4 P)  orthonormal: the planes of the waves, then as many beside them
  Matrix states;  ///< (T, d_model)    positions as the layer sees them, rows of norm sqrt(d_model)
  Matrix query;   ///< (d_model, d_head)
  Matrix key;     ///< (d_model, d_head)
};

/// (T, 2 P)  cos(w_m n), sin(w_m n) side by side.
inline Matrix wave_columns(const WaveSpec& spec) {
  Matrix columns(spec.length, 2 * spec.waves());
  for (Index n = 0; n < spec.length; ++n)
    for (Index m = 0; m < spec.waves(); ++m) {
      columns(n, 2 * m) = std::cos(spec.angular(m) * static_cast<double>(n));
      columns(n, 2 * m + 1) = std::sin(spec.angular(m) * static_cast<double>(n));
    }
  return columns;
}

/// (2 P, 2 P)  G = blockdiag [[c, s], [-s, c]] of the turns.
inline Matrix turned_planes(const WaveSpec& spec) {
  Matrix turn = Matrix::Zero(2 * spec.waves(), 2 * spec.waves());
  for (Index m = 0; m < spec.waves(); ++m) {
    const double angle = spec.turns[static_cast<std::size_t>(m)];
    turn.block(2 * m, 2 * m, 2, 2) << std::cos(angle), std::sin(angle), -std::sin(angle), std::cos(angle);
  }
  return turn;
}

/// (2 P)  kappa of each column: sqrt(a_m sqrt(d_head) P / d_model).
inline Vector wave_gains(const WaveSpec& spec) {
  Vector gains(2 * spec.waves());
  for (Index m = 0; m < spec.waves(); ++m)
    gains[2 * m] = gains[2 * m + 1] =
        std::sqrt(spec.amplitudes[static_cast<std::size_t>(m)] * std::sqrt(static_cast<double>(spec.d_head)) *
                  static_cast<double>(spec.waves()) / static_cast<double>(spec.d_model));
  return gains;
}

inline WaveMatrices wave_matrices(const WaveSpec& spec) {
  Random random(spec.seed);
  const Index planes = 2 * spec.waves();
  WaveMatrices made;
  made.basis = random_frame(spec.d_model, 2 * planes, random);
  const Matrix own = made.basis.leftCols(planes), beside = made.basis.rightCols(planes);
  made.states = wave_columns(spec) * own.transpose() *
                std::sqrt(static_cast<double>(spec.d_model) / static_cast<double>(spec.waves()));
  made.query = made.key = Matrix::Zero(spec.d_model, spec.d_head);
  made.query.leftCols(planes) = own * wave_gains(spec).asDiagonal();
  made.key.leftCols(planes) =
      (std::cos(spec.tilt) * own + std::sin(spec.tilt) * beside) * turned_planes(spec) * wave_gains(spec).asDiagonal();
  return made;
}

/// A head followed through the chain over one document.
struct Followed {
  std::unique_ptr<ChainHead> head;  ///< where `waves` finds it
  HeadWaves waves;
  Eigen::VectorXcd cross;  ///< cross_spectrum()
  Delay delay;

  /// C(f) of the phases of M alone.
  [[nodiscard]] Eigen::VectorXcd phase_cross() const {
    return phase_cross_spectrum(head->rotation, head->svd.gain,
                                direction_spectra(waves.query_spectrum, head->rotation));
  }
  [[nodiscard]] Eigen::VectorXcd eigenvalues() const {
    Eigen::VectorXcd values(head->rotation.rank());
    for (Index i = 0; i < values.size(); ++i) values[i] = head->rotation.eigenvalue(i);
    return values;
  }
};

inline Followed followed(const Matrix& states, const Matrix& query, const Matrix& key,
                         const DelayOptions& options = {}) {
  Followed result;
  result.head = std::make_unique<ChainHead>();
  result.head->svd = qk_svd(query, key);
  result.head->rank = result.head->svd.rank();
  result.head->rotation = phase_rotation(result.head->svd);
  result.waves = head_waves(0, *result.head, states * query, states * key);
  result.cross = cross_spectrum(result.waves);
  result.delay = delays(result.cross, states.rows(), options).front();
  return result;
}

inline Followed followed(const WaveMatrices& made, const DelayOptions& options = {}) {
  return followed(made.states, made.query, made.key, options);
}

/// Farthest that a value of one list is from the nearest one of the other, whichever list it is in.
inline double apart(const Eigen::VectorXcd& a, const Eigen::VectorXcd& b) {
  double worst = 0;
  for (const std::complex<double>& value : a) worst = std::max(worst, (b.array() - value).abs().minCoeff());
  for (const std::complex<double>& value : b) worst = std::max(worst, (a.array() - value).abs().minCoeff());
  return worst;
}

/// retention e^{+- i turn_m} for all m: the eigenvalues that a spec's M must have.
inline Eigen::VectorXcd planted_eigenvalues(const WaveSpec& spec) {
  Eigen::VectorXcd values(2 * spec.waves());
  for (Index m = 0; m < spec.waves(); ++m) {
    values[2 * m] = std::polar(std::cos(spec.tilt), spec.turns[static_cast<std::size_t>(m)]);
    values[2 * m + 1] = std::conj(values[2 * m]);
  }
  return values;
}

/// Coherences of the head whose keys read random frames with its own gains, as many as draws.
inline std::vector<double> null_coherences(const Followed& head, const Matrix& states, Index draws) {
  std::vector<double> found;
  for (Index draw = 0; draw < draws; ++draw) {
    Random random = Random(99).stream(static_cast<std::uint64_t>(draw));
    const MatrixC keys = real_dft(Matrix(states * random_frame(states.cols(), head.waves.rank(), random)));
    found.push_back(
        delays(gained_queries(head.waves).cwiseProduct(keys).rowwise().sum(), states.rows()).front().coherence);
  }
  return found;
}

/// One layer of heads of one width, in float as models are.
struct WaveStack {
  Matrix32 query, key;  ///< (heads * d_head, d_model)  what `stack` looks at
  Stack stack;

  /// @param queries, keys  (d_model, d_head) each
  WaveStack(const std::vector<Matrix>& queries, const std::vector<Matrix>& keys) {
    const Index d_model = queries.front().rows(), d_head = queries.front().cols();
    const auto heads = static_cast<Index>(queries.size());
    query.resize(heads * d_head, d_model);
    key.resize(heads * d_head, d_model);
    for (Index h = 0; h < heads; ++h) {
      query.middleRows(h * d_head, d_head) = queries[static_cast<std::size_t>(h)].cast<float>().transpose();
      key.middleRows(h * d_head, d_head) = keys[static_cast<std::size_t>(h)].cast<float>().transpose();
    }
    stack.block.heads = stack.block.kv_heads = heads;
    stack.block.d_head = d_head;
    stack.block.score_scale = 1 / std::sqrt(static_cast<double>(d_head));
    stack.blocks.resize(1);
    stack.blocks[0].self.query = {query, {}};
    stack.blocks[0].self.key = {key, {}};
  }
  WaveStack(const WaveStack&) = delete;
  WaveStack& operator=(const WaveStack&) = delete;
  ~WaveStack() = default;

  [[nodiscard]] HeadGrid grid() const { return {{0}, stack.block.heads}; }
};

/// Fields that hold a number which is not finite and do not say why.
inline std::vector<std::string> unannounced(const std::vector<Field>& fields) {
  std::vector<std::string> names;
  for (const Field& field : fields) {
    const auto* values = std::get_if<std::vector<double>>(&field.values);
    if (values == nullptr) continue;
    bool undefined = false, infinite = false;
    for (const double value : *values) {
      undefined = undefined || std::isnan(value);
      infinite = infinite || std::isinf(value);
    }
    if (infinite || (undefined && field.attributes.count("undefined") == 0)) names.push_back(field.name);
  }
  return names;
}

}  // namespace headwave
