#include "fft_library.h"

#ifdef HEADWAVE_FFTW

#include <map>
#include <mutex>
#include <tuple>

#include <fftw3.h>
#include <fmt/format.h>

namespace headwave {

namespace {

fftw_complex* fftw_pointer(MatrixC& matrix) {
  return reinterpret_cast<fftw_complex*>(matrix.data());  // NOLINT: the two layouts are the same by FFTW's contract
}

enum class Transform { real_to_half, half_to_real };

// The plan of a shape. Plans are kept, since a job transforms columns of few shapes. A plan serves all arrays
// of the same alignment, which Eigen's arrays have. It is estimated, never measured, so that digits repeat.
template <class Make>
fftw_plan plan_of(Transform transform, Index length, Index width, const Make& make) {
  static std::mutex planner;  // FFTW's planner shares tables between threads; executing a plan does not
  static auto& plans = *new std::map<std::tuple<Transform, Index, Index>, fftw_plan>;  // never deleted
  const std::lock_guard lock(planner);
  fftw_plan& plan = plans[{transform, length, width}];
  if (plan == nullptr) plan = make();
  if (plan == nullptr)
    throw NumericError(fmt::format("FFTW has no plan for a transform of {} columns of length {}", width, length));
  return plan;
}

void fftw_real_to_half(const Matrix& sequences, MatrixC& half) {
  const int length = static_cast<int>(sequences.cols()), width = static_cast<int>(sequences.rows());
  auto* const from = const_cast<double*>(sequences.data());  // NOLINT: the plan preserves its input
  const fftw_plan plan = plan_of(Transform::real_to_half, length, width, [&] {
    return fftw_plan_many_dft_r2c(1, &length, width, from, nullptr, 1, length, fftw_pointer(half), nullptr, 1,
                                  static_cast<int>(half.cols()), FFTW_ESTIMATE | FFTW_PRESERVE_INPUT);
  });
  fftw_execute_dft_r2c(plan, from, fftw_pointer(half));
}

void fftw_half_to_real(MatrixC& half, Matrix& sequences) {
  const int length = static_cast<int>(sequences.cols()), width = static_cast<int>(sequences.rows());
  const fftw_plan plan = plan_of(Transform::half_to_real, length, width, [&] {
    return fftw_plan_many_dft_c2r(1, &length, width, fftw_pointer(half), nullptr, 1, static_cast<int>(half.cols()),
                                  sequences.data(), nullptr, 1, length, FFTW_ESTIMATE);
  });
  fftw_execute_dft_c2r(plan, fftw_pointer(half), sequences.data());
}

std::string fftw_name() {
  // "fftw-3.3.10-sse2-avx": the part after the second dash tells how it was built.
  const std::string version = fftw_version;
  const auto first = version.find('-');
  if (first == std::string::npos) return "FFTW " + version;
  return "FFTW " + version.substr(first + 1, version.find('-', first + 1) - first - 1);
}

}  // namespace

const FftLibrary* fftw_library() {
  static constexpr FftLibrary library{&fftw_name, &fftw_real_to_half, &fftw_half_to_real};
  return &library;
}

}  // namespace headwave

#else

const headwave::FftLibrary* headwave::fftw_library() {
  return nullptr;
}

#endif
