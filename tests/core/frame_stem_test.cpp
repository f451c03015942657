#include <cmath>

#include "../../core/model/embedding.h"
#include "../catch.h"
#include "../test_numbers.h"

using namespace headwave;

namespace {

double gelu(double x) {
  return 0.5 * x * (1 + std::erf(x / std::sqrt(2.0)));
}

/// The sums of a convolution as they are written, term by term.
Matrix direct(const Matrix& x, const MatrixView32& weight, const Vector32& bias, Index stride) {
  Matrix y((x.rows() + stride - 1) / stride, weight.rows());
  for (Index t = 0; t < y.rows(); ++t)
    for (Index out = 0; out < y.cols(); ++out) {
      double sum = bias[out];
      for (Index in = 0; in < x.cols(); ++in)
        for (Index k = 0; k < 3; ++k)
          if (const Index at = t * stride + k - 1; at >= 0 && at < x.rows()) sum += weight(out, in * 3 + k) * x(at, in);
      y(t, out) = gelu(sum);
    }
  return y;
}

}  // namespace

TEST_CASE("frames pass two convolutions as their sums are written, silence around them") {
  for (const Index frames : {1, 2, 7, 12}) {
    CAPTURE(frames);
    const Index bins = 5, d_model = 4;
    const Matrix32 first = random_matrix(d_model, bins * 3, 1).cast<float>();
    const Matrix32 second = random_matrix(d_model, d_model * 3, 2).cast<float>();
    const Vector32 bias = random_matrix(2, d_model, 3).row(0).cast<float>(), other = 2 * bias;
    FrameStem stem;
    stem.first = {.weight = first, .bias = bias};
    stem.second = {.weight = second, .bias = other};
    const Matrix32 x = random_matrix(frames, bins, 4).cast<float>();
    const Matrix expected = direct(direct(x.cast<double>(), first, bias, 1), second, other, 2);
    const Matrix32 came = frame_rows(stem, x);
    REQUIRE(came.rows() == (frames + 1) / 2);
    REQUIRE(came.cols() == d_model);
    CHECK((came.cast<double>() - expected).cwiseAbs().maxCoeff() < 1e-5);
  }
}

TEST_CASE("frames of other bins than the model's are refused") {
  const Matrix32 weight = Matrix32::Ones(2, 15), next = Matrix32::Ones(2, 6);
  FrameStem stem;
  stem.first.weight = weight;
  stem.second.weight = next;
  CHECK(stem.bins() == 5);
  CHECK(stem.d_model() == 2);
  CHECK_THROWS_WITH(frame_rows(stem, Matrix32(Matrix32::Ones(4, 6))),
                    ContainsSubstring("frames of 6 bins, the model expects 5"));
}
