#include "fft.h"

#include <cmath>
#include <limits>
#include <memory>
#include <mutex>
#include <numbers>
#include <type_traits>

#include <fftw3.h>
#include <fmt/format.h>

namespace headwave {

namespace {

// FFTW's planner and its destruction of plans share tables; executing a plan does not.
std::mutex& planner() {
  static std::mutex mutex;
  return mutex;
}

struct PlanDeleter {
  void operator()(fftw_plan plan) const {
    const std::lock_guard lock(planner());
    fftw_destroy_plan(plan);
  }
};
using Plan = std::unique_ptr<std::remove_pointer_t<fftw_plan>, PlanDeleter>;

fftw_complex* fftw_pointer(MatrixC& matrix) {
  return reinterpret_cast<fftw_complex*>(matrix.data());  // NOLINT: the two layouts are the same by FFTW's contract
}

void check_size(const char* function, Index rows, Index columns) {
  constexpr Index limit = std::numeric_limits<int>::max();
  if (rows < 1) throw ShapeError(fmt::format("{}: expected at least one row, got {} x {}", function, rows, columns));
  if (rows > limit || columns > limit)
    throw ShapeError(
        fmt::format("{}: {} x {} is too large, at most {} rows and columns", function, rows, columns, limit));
}

void check_plan(const char* function, const Plan& plan, Index rows) {
  if (!plan) throw NumericError(fmt::format("{}: no plan for a transform of length {}", function, rows));
}

// x minus its least-squares line (or its mean), column by column.
void remove_trend(Matrix& x, bool line) {
  const Eigen::RowVectorXd mean = x.colwise().mean();
  x.rowwise() -= mean;
  if (!line || x.rows() < 2) return;
  const auto length = static_cast<double>(x.rows());
  const Vector ramp = Vector::LinSpaced(x.rows(), -0.5 * (length - 1.0), 0.5 * (length - 1.0));
  const Eigen::RowVectorXd slope = (ramp.transpose() * x) / ramp.squaredNorm();
  x.noalias() -= ramp * slope;
}

void apply_hann(Matrix& x) {
  const double step = 2.0 * std::numbers::pi / static_cast<double>(x.rows());
  for (Index n = 0; n < x.rows(); ++n) x.row(n) *= 0.5 - 0.5 * std::cos(step * static_cast<double>(n));
}

Matrix prepared(MatrixView columns, const SpectrumOptions& options) {
  Matrix x = columns;
  if (options.demean || options.detrend) remove_trend(x, options.detrend);
  if (options.window == Window::hann) apply_hann(x);
  return x;
}

}  // namespace

const char* name_of(Window window) {
  return window == Window::hann ? "hann" : "rectangular";
}

MatrixC real_dft(MatrixView columns, const SpectrumOptions& options) {
  check_size("real_dft", columns.rows(), columns.cols());
  if (!columns.allFinite())
    throw NumericError("real_dft: an entry is not finite; check the values before transforming them");
  MatrixC spectrum(columns.rows() / 2 + 1, columns.cols());
  if (columns.cols() == 0) return spectrum;
  Matrix x = prepared(columns, options);
  const int length = static_cast<int>(x.rows());
  const int width = static_cast<int>(x.cols());
  const Plan plan = [&] {
    const std::lock_guard lock(planner());
    return Plan(fftw_plan_many_dft_r2c(1, &length, width, x.data(), nullptr, width, 1, fftw_pointer(spectrum), nullptr,
                                       width, 1, FFTW_ESTIMATE));
  }();
  check_plan("real_dft", plan, x.rows());
  fftw_execute(plan.get());
  return spectrum;
}

Matrix amplitude_spectrum(MatrixView columns, const SpectrumOptions& options) {
  return real_dft(columns, options).cwiseAbs();
}

MatrixC dft(const MatrixC& columns) {
  check_size("dft", columns.rows(), columns.cols());
  if (!columns.allFinite())
    throw NumericError("dft: an entry is not finite; check the values before transforming them");
  MatrixC spectrum = columns;  // transformed in place
  if (columns.cols() == 0) return spectrum;
  const int length = static_cast<int>(columns.rows());
  const int width = static_cast<int>(columns.cols());
  const Plan plan = [&] {
    const std::lock_guard lock(planner());
    return Plan(fftw_plan_many_dft(1, &length, width, fftw_pointer(spectrum), nullptr, width, 1, fftw_pointer(spectrum),
                                   nullptr, width, 1, FFTW_FORWARD, FFTW_ESTIMATE));
  }();
  check_plan("dft", plan, columns.rows());
  fftw_execute(plan.get());
  return spectrum;
}

std::string fft_library() {
  // "fftw-3.3.10-sse2-avx": what follows the second dash is how it was built.
  const std::string version = fftw_version;
  const auto first = version.find('-');
  if (first == std::string::npos) return "FFTW " + version;
  return "FFTW " + version.substr(first + 1, version.find('-', first + 1) - first - 1);
}

}  // namespace headwave
