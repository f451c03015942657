#include "delay.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include <fmt/format.h>

namespace headwave {

namespace {

using Complex = std::complex<double>;

/// m_f of (1): negative frequencies count too, except at T/2.
double multiplicity(Index f, Index length) {
  return 2 * f == length ? 1.0 : 2.0;
}

/// A function of t with its first two derivatives.
struct Curve {
  double value = 0, slope = 0, bend = 0;
};

/// D(t). Several frequencies are computed side by side, each with its own phase.
Curve wave_at(Eigen::Ref<const Eigen::VectorXcd> cross, Index length, double t) {
  constexpr int lanes = 8;
  using Lanes = Eigen::Array<double, lanes, 1>;
  const double step = 2 * std::numbers::pi / static_cast<double>(length);
  Lanes w = Lanes::LinSpaced(1, lanes) * step, cosine = (w * t).cos(), sine = (w * t).sin();
  const double turn_cosine = std::cos(lanes * step * t), turn_sine = std::sin(lanes * step * t);
  Lanes value = Lanes::Zero(), slope = value, bend = value;
  const auto* numbers = reinterpret_cast<const double*>(cross.data());
  for (Index first = 1; first < cross.size(); first += lanes) {
    const Index count = std::min<Index>(lanes, cross.size() - first);
    Lanes a = Lanes::Zero(), b = a;
    for (Index j = 0; j < count; ++j) {
      const double m = multiplicity(first + j, length);
      a[j] = m * numbers[2 * (first + j)];
      b[j] = m * numbers[2 * (first + j) + 1];
    }
    const Lanes re = a * cosine - b * sine;
    value += re;
    slope -= w * (a * sine + b * cosine);
    bend -= w * w * re;
    const Lanes turned = cosine * turn_cosine - sine * turn_sine;
    sine = cosine * turn_sine + sine * turn_cosine;
    cosine = turned;
    w += lanes * step;
  }
  return {value.sum(), slope.sum(), bend.sum()};
}

/// The maximum within one grid step of a grid point.
double refined(Eigen::Ref<const Eigen::VectorXcd> cross, Index length, double start, double step) {
  double low = start - step, high = start + step, t = start;
  for (int round = 0; round < 60; ++round) {
    const Curve curve = wave_at(cross, length, t);
    (curve.slope > 0 ? low : high) = t;
    double next = curve.bend < 0 ? t - curve.slope / curve.bend : 0.5 * (low + high);
    if (!(next > low && next < high)) next = 0.5 * (low + high);
    if (std::abs(next - t) <= 4 * std::numeric_limits<double>::epsilon() * (1 + std::abs(t))) return next;
    t = next;
  }
  return t;
}

struct Peak {
  double height, offset;
  bool at_edge = false;
};

/// Order of offset_peak(): the higher peak, then the one nearer to 0, then the left one. offset_peak() itself
/// does not fit: these peaks lie between whole offsets, their heights are rounded, and the second is needed.
bool before(const Peak& a, const Peak& b) {
  const double equal = 1e-12 * std::max(std::abs(a.height), std::abs(b.height));
  if (std::abs(a.height - b.height) > equal) return a.height > b.height;
  if (std::abs(a.offset) != std::abs(b.offset)) return std::abs(a.offset) < std::abs(b.offset);
  return a.offset < b.offset;
}

/// sum_{f > 0} m_f |C(f)|; NaN: only rounding.
double modulus_of(Eigen::Ref<const Eigen::VectorXcd> cross, Index length) {
  const Matrix sizes = magnitudes(cross);
  double modulus = 0;
  for (Index f = 1; f < cross.size(); ++f) modulus += multiplicity(f, length) * sizes(f, 0);
  const double rounding = std::numeric_limits<double>::epsilon() * static_cast<double>(length) * std::abs(cross[0]);
  return modulus > rounding ? modulus : not_defined;
}

Delay delay_of(Eigen::Ref<const Eigen::VectorXcd> cross, Eigen::Ref<const Vector> grid, Index length, double step) {
  const double modulus = modulus_of(cross, length);
  if (std::isnan(modulus)) return {not_defined, not_defined, not_defined, not_defined, false};

  const Index last = grid.size() - 1, middle = last / 2;
  std::vector<Peak> peaks;
  for (Index g = 0; g <= last; ++g) {
    const bool rises = g == 0 || grid[g] > grid[g - 1], falls = g == last || grid[g] >= grid[g + 1];
    if (rises && falls)
      peaks.push_back({grid[g], static_cast<double>(g - middle) * step, last > 0 && (g == 0 || g == last)});
  }
  if (peaks.empty()) peaks.push_back({grid[middle], 0.0, false});
  std::sort(peaks.begin(), peaks.end(), before);
  // The grid can order peaks of nearly equal height wrongly, so all that can still win are refined.
  peaks.resize(std::min<std::size_t>(peaks.size(), 5));
  for (Peak& peak : peaks) {
    if (peak.at_edge) continue;
    peak.offset = refined(cross, length, peak.offset, step);
    peak.height = wave_at(cross, length, peak.offset).value;
  }
  std::sort(peaks.begin(), peaks.end(), before);
  Delay delay{peaks[0].offset, peaks[0].height / modulus, not_defined, not_defined, peaks[0].at_edge};
  const auto next = std::find_if(peaks.begin() + 1, peaks.end(), [](const Peak& peak) { return !peak.at_edge; });
  if (next != peaks.end()) {
    delay.runner_up = next->offset;
    delay.runner_up_share = next->height / peaks[0].height;
  }
  return delay;
}

/// D(t) for |t| <= reach on a grid finer than a token, from one padded transform.
/// @returns (2 reach oversample + 1, heads)
Matrix waves_on_grid(const MatrixC& cross, Index length, const DelayOptions& options) {
  if (length < 1 || cross.rows() != length / 2 + 1)
    throw ShapeError(
        fmt::format("delays: expected T >= 1 and a cross-spectrum of floor(T/2) + 1 rows, found T = {} and {} rows",
                    length, cross.rows()));
  const Index fine = length * options.oversample, reach = std::min(options.reach, length / 2) * options.oversample;
  MatrixC padded = MatrixC::Zero(fine / 2 + 1, cross.cols());
  for (Index f = 1; f < cross.rows(); ++f)
    padded.row(f) = (2 * f == fine ? 1.0 : 0.5 * multiplicity(f, length)) * cross.row(f);
  const Matrix waves = real_columns(padded, fine);
  Matrix grid(2 * reach + 1, waves.cols());
  grid.topRows(reach) = waves.bottomRows(reach);
  grid.bottomRows(reach + 1) = waves.topRows(reach + 1);
  return grid;
}

}  // namespace

std::vector<Delay> delays(const MatrixC& cross, Index length, const DelayOptions& options) {
  const Matrix grid = waves_on_grid(cross, length, options);
  std::vector<Delay> found;
  for (Index column = 0; column < cross.cols(); ++column)
    found.push_back(
        delay_of(cross.col(column), grid.col(column), length, 1.0 / static_cast<double>(options.oversample)));
  return found;
}

Matrix delay_by_frequency(const MatrixC& cross, Index length) {
  Matrix result = Matrix::Constant(cross.rows(), cross.cols(), not_defined);
  const double turn = 2 * std::numbers::pi / static_cast<double>(length);
  for (Index f = 1; f < cross.rows(); ++f)
    for (Index column = 0; column < cross.cols(); ++column) {
      const Complex c = cross(f, column);
      // At T/2 C is real: the sign of its imaginary part is rounding, and half a turn is the same both ways.
      const double phase = 2 * f == length ? (c.real() < 0 ? std::numbers::pi : 0) : std::arg(c);
      if (c != Complex(0)) result(f, column) = -phase / (turn * static_cast<double>(f));
    }
  return result;
}

}  // namespace headwave
