#include "../../core/algebra/product.h"

#include <array>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "../../core/algebra/kernels.h"
#include "../catch.h"
#include "../test_numbers.h"

using namespace headwave;

namespace {

/// The kernels of every width that the processor has.
template <class Scalar>
std::vector<const Kernels<Scalar>*> kernels_here() {
  std::vector<const Kernels<Scalar>*> all;
  for (const Vectors vectors : {Vectors::compiled, Vectors::avx2, Vectors::avx512})
    if (const auto* found = kernels_for<Scalar>(vectors)) all.push_back(found);
  return all;
}

template <class Scalar>
double bound(Index terms) {
  return 8 * static_cast<double>(std::numeric_limits<Scalar>::epsilon()) * std::sqrt(static_cast<double>(terms + 1));
}

template <class Scalar>
void check_products(const Kernels<Scalar>& kernel, Index rows, Index inner, Index cols) {
  CAPTURE(rows, inner, cols, sizeof(Scalar));
  const MatrixOf<Scalar> a = random_matrix(rows, inner, 1).cast<Scalar>(),
                         b = random_matrix(inner, cols, 2).cast<Scalar>();
  const MatrixOf<Scalar> a_columns = a.transpose(), b_columns = b.transpose();  // the same numbers, column after column
  const Matrix expected = a.template cast<double>() * b.template cast<double>();
  const double apart = bound<Scalar>(inner) * std::sqrt(static_cast<double>(inner + 1));
  for (const bool a_by_rows : {true, false})
    for (const bool b_by_rows : {true, false})
      for (const bool add : {false, true}) {
        MatrixOf<Scalar> out = MatrixOf<Scalar>::Constant(rows, cols + 3, Scalar{7});
        const Operand<Scalar> left =
            a_by_rows ? product_detail::operand_of(a) : Operand<Scalar>{a_columns.data(), rows, inner, rows, false};
        const Operand<Scalar> right =
            b_by_rows ? product_detail::operand_of(b) : Operand<Scalar>{b_columns.data(), inner, cols, inner, false};
        kernel.multiply(left, right, out.data(), out.cols(), add);
        const Matrix came = out.leftCols(cols).template cast<double>();
        if (came.size() > 0)
          CHECK((came - expected - Matrix::Constant(rows, cols, add ? 7.0 : 0.0)).cwiseAbs().maxCoeff() <=
                apart + 1e-6);
        CHECK((out.rightCols(3).array() == Scalar{7}).all());  // what lies between its rows is not the product's
      }
}

/// Every prefix of rows and of panels of columns, against the same sums in double.
template <class Scalar>
void check_packed(const Kernels<Scalar>& kernel, Index rows, Index inner, Index cols) {
  CAPTURE(rows, inner, cols, sizeof(Scalar));
  const MatrixOf<Scalar> a = random_matrix(rows, inner, 3).cast<Scalar>(),
                         b = random_matrix(inner, cols, 4).cast<Scalar>();
  const MatrixOf<Scalar> b_columns = b.transpose(), a_columns = a.transpose();
  VectorOf<Scalar> packed(b.size());
  for (const bool b_by_rows : {true, false}) {
    kernel.pack(
        b_by_rows ? product_detail::operand_of(b) : Operand<Scalar>{b_columns.data(), inner, cols, inner, false},
        packed.data());
    for (const Index deep : {inner, inner / 2, Index{1}})
      for (Index wide = cols; wide > 0; wide = (wide - 1) / kernel.columns_at_once * kernel.columns_at_once) {
        CAPTURE(b_by_rows, deep, wide);
        const Matrix expected =
            a.leftCols(deep).template cast<double>() * b.topLeftCorner(deep, wide).template cast<double>();
        MatrixOf<Scalar> out = MatrixOf<Scalar>::Constant(rows, wide + 3, Scalar{7});
        for (const bool a_by_rows : {true, false}) {
          const Operand<Scalar> left = a_by_rows ? Operand<Scalar>{a.data(), rows, deep, inner, true}
                                                 : Operand<Scalar>{a_columns.data(), rows, deep, rows, false};
          kernel.multiply_packed(left, {packed.data(), inner, cols}, wide, out.data(), out.cols());
          CHECK((out.leftCols(wide).template cast<double>() - expected).cwiseAbs().maxCoeff() <=
                bound<Scalar>(deep) * std::sqrt(static_cast<double>(deep + 1)));
          CHECK((out.rightCols(3).array() == Scalar{7}).all());
        }
      }
  }
}

template <class Scalar>
void check_softmax(const Kernels<Scalar>& kernel) {
  for (const Index count : {1, 2, 7, 8, 16, 33, 512}) {
    CAPTURE(count, sizeof(Scalar));
    VectorOf<Scalar> x = (20 * random_matrix(1, count, 5).row(0).transpose()).cast<Scalar>();
    const Vector from = x.template cast<double>(), e = (from.array() - from.maxCoeff()).exp();
    kernel.softmax(x.data(), count);
    CHECK((x.template cast<double>() - e / e.sum()).cwiseAbs().maxCoeff() <= bound<Scalar>(count));
  }
  constexpr Scalar none = -std::numeric_limits<Scalar>::infinity();
  VectorOf<Scalar> x = VectorOf<Scalar>::Constant(9, none);
  kernel.softmax(x.data(), 9);
  CHECK((x.array() == 0).all());
  x << none, 1, none, 1, none, none, none, none, none;
  kernel.softmax(x.data(), 9);
  CHECK(x[1] == Scalar{0.5});
  CHECK(x.sum() == Scalar{1});
  CHECK_NOTHROW(kernel.softmax(nullptr, 0));
}

template <class Scalar>
void check_sum_x_log_x(const Kernels<Scalar>& kernel) {
  for (const Index count : {0, 1, 2, 15, 16, 17, 512}) {
    CAPTURE(count, sizeof(Scalar));
    VectorOf<Scalar> x = random_matrix(1, count, 6).row(0).transpose().cwiseAbs().cast<Scalar>();
    for (Index i = 2; i < count; i += 5) x[i] = 0;
    double sum = 0, size = 0;
    for (const Scalar entry : x)
      if (entry > 0) {
        const auto wide = static_cast<double>(entry);
        sum += wide * std::log(wide);
        size += std::abs(wide * std::log(wide)) + wide;
      }
    CHECK(std::abs(kernel.sum_x_log_x(x.data(), count) - sum) <=
          4 * static_cast<double>(std::numeric_limits<Scalar>::epsilon()) * size);
    for (Index at = 0; at < count; at += 7)
      for (const Scalar broken : {std::numeric_limits<Scalar>::quiet_NaN(), std::numeric_limits<Scalar>::infinity()}) {
        VectorOf<Scalar> y = x;
        y[at] = broken;
        CHECK_FALSE(std::isfinite(kernel.sum_x_log_x(y.data(), count)));
      }
  }
}

/// Against sums of one entry after the other.
template <class Scalar>
void check_diagonals_and_powers(const Kernels<Scalar>& kernel, Index rows, Index cols) {
  CAPTURE(rows, cols, sizeof(Scalar));
  const MatrixOf<Scalar> x = random_matrix(rows, cols + 3, 9).cast<Scalar>();
  const Operand<Scalar> operand{x.data(), rows, cols, cols + 3, true};
  Vector diagonals = Vector::Ones(rows + cols - 1), expected = diagonals;
  Matrix powers = Matrix::Ones(3, cols), sums = powers;
  for (Index i = 0; i < rows; ++i)
    for (Index j = 0; j < cols; ++j) {
      const auto value = static_cast<double>(x(i, j));
      expected[rows - 1 - i + j] += value;
      for (Index power = 0; power < 3; ++power) sums(power, j) += std::pow(value, static_cast<double>(power + 1));
    }
  kernel.add_diagonals(operand, diagonals.data());
  kernel.add_powers(operand, powers.row(0).data(), powers.row(1).data(), powers.row(2).data());
  CHECK(diagonals == expected);
  CHECK((powers - sums).cwiseAbs().maxCoeff() <= 1e-14 * (1 + static_cast<double>(rows)));
}

template <class Scalar>
void check_gelu(const Kernels<Scalar>& kernel) {
  for (const Index count : {0, 1, 15, 16, 17, 400}) {
    CAPTURE(count, sizeof(Scalar));
    const VectorOf<Scalar> x = (3 * random_matrix(1, count, 10).row(0).transpose()).cast<Scalar>();
    VectorOf<Scalar> y = x;
    kernel.gelu(y.data(), count);
    for (Index i = 0; i < count; ++i) {
      const auto value = static_cast<double>(x[i]);
      const double expected = 0.5 * value * std::erfc(-value / std::sqrt(2.0));
      CHECK(std::abs(static_cast<double>(y[i]) - expected) <=
            4 * static_cast<double>(std::numeric_limits<Scalar>::epsilon()) * std::abs(value));
    }
  }
  VectorOf<Scalar> ends(3);
  ends << Scalar{0}, Scalar{30}, Scalar{-30};
  kernel.gelu(ends.data(), 3);
  CHECK(ends[0] == 0);
  CHECK(ends[1] == 30);
  CHECK(std::abs(ends[2]) < Scalar{1e-5F});
}

template <class Scalar>
void check_normalise(const Kernels<Scalar>& kernel, bool about_mean, bool shifts) {
  constexpr double small = 1e-5;
  for (const Index count : {1, 2, 15, 16, 17, 384, 391}) {
    CAPTURE(count, about_mean, shifts, sizeof(Scalar));
    const VectorOf<Scalar> x = (5 + random_matrix(1, count, 11).row(0).transpose().array()).matrix().cast<Scalar>(),
                           scale = random_matrix(1, count, 12).row(0).transpose().cast<Scalar>(),
                           shift = random_matrix(1, count, 13).row(0).transpose().cast<Scalar>();
    VectorOf<Scalar> y = x;
    kernel.normalise(y.data(), count, about_mean, small, scale.data(), shifts ? shift.data() : nullptr);
    const Vector wide = x.template cast<double>();
    const Vector about = wide.array() - (about_mean ? wide.mean() : 0.0);
    Vector expected = about / std::sqrt(about.squaredNorm() / static_cast<double>(count) + small);
    expected = expected.cwiseProduct(scale.template cast<double>());
    if (shifts) expected += shift.template cast<double>();
    CHECK((y.template cast<double>() - expected).cwiseAbs().maxCoeff() <=
          16 * static_cast<double>(std::numeric_limits<Scalar>::epsilon()) * (1 + expected.cwiseAbs().maxCoeff()));
  }
}

}  // namespace

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
TEST_CASE("Kernels for wide vectors exist where the compiler's library finds such vectors") {
  CHECK((kernels_for<float>(Vectors::avx2) != nullptr) ==
        (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")));
  CHECK((kernels_for<float>(Vectors::avx512) != nullptr) ==
        (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
         __builtin_cpu_supports("avx512vl")));
}
#endif

#if defined(__aarch64__)
TEST_CASE("Kernels on aarch64 are those of NEON") {
  CHECK(std::string(instruction_set()) == "NEON");
}
#endif

TEMPLATE_TEST_CASE("gelu of every width is x times the normal distribution", "", float, double) {
  for (const Kernels<TestType>* kernel : kernels_here<TestType>()) check_gelu(*kernel);
}

TEMPLATE_TEST_CASE("a norm of every width is what its two moments say", "", float, double) {
  for (const Kernels<TestType>* kernel : kernels_here<TestType>())
    for (const bool about_mean : {false, true})
      for (const bool shifts : {false, true}) check_normalise(*kernel, about_mean, shifts);
}

TEMPLATE_TEST_CASE("sums along diagonals and of powers are those of every entry by itself", "", float, double) {
  for (const Kernels<TestType>* kernel : kernels_here<TestType>())
    for (const Index rows : {1, 2, 3, 4, 5, 8, 11, 64})
      for (const Index cols : {1, 2, 3, 4, 5, 16, 17, 130}) check_diagonals_and_powers(*kernel, rows, cols);
}

TEMPLATE_TEST_CASE("products of every width, layout and stride are the sums that they should be", "", float, double) {
  for (const Kernels<TestType>* kernel : kernels_here<TestType>())
    for (const Index rows : {0, 1, 3, 8, 47, 64})
      for (const Index inner : {0, 1, 5, 32, 129})
        for (const Index cols : {0, 1, 4, 17, 65}) check_products(*kernel, rows, inner, cols);
}

TEMPLATE_TEST_CASE("a softmax of every width sums to one, and is all zeros where everything is forbidden", "", float,
                   double) {
  for (const Kernels<TestType>* kernel : kernels_here<TestType>()) check_softmax(*kernel);
}

TEMPLATE_TEST_CASE("a sum of x ln x of every width leaves out zeros, and shows what is not finite", "", float, double) {
  for (const Kernels<TestType>* kernel : kernels_here<TestType>()) check_sum_x_log_x(*kernel);
}

TEMPLATE_TEST_CASE("products with a packed operand are the sums that they should be, of its first rows and columns too",
                   "", float, double) {
  for (const Kernels<TestType>* kernel : kernels_here<TestType>()) {
    for (const Index rows : {1, 3, 64, 65})
      for (const Index cols : {1, 5, 47, 48, 130, 400}) check_packed(*kernel, rows, 20, cols);
    for (const Index inner : {1, 2, 127, 256, 257, 600}) check_packed(*kernel, 9, inner, 70);
  }
}

TEMPLATE_TEST_CASE("products of several blocks are the sums that they should be, packed before or on the way", "",
                   float, double) {
  for (const Kernels<TestType>* kernel : kernels_here<TestType>())
    for (const auto& [rows, inner, cols] : {std::array<Index, 3>{2100, 20, 30}, {30, 700, 900}, {2, 300, 401}}) {
      check_products(*kernel, rows, inner, cols);
      CAPTURE(rows, inner, cols, sizeof(TestType));
      const MatrixOf<TestType> a = random_matrix(rows, inner, 1).template cast<TestType>(),
                               b = random_matrix(inner, cols, 2).template cast<TestType>();
      const Operand<TestType> right{b.data(), inner, cols, cols, true}, left{a.data(), rows, inner, inner, true};
      VectorOf<TestType> packed(inner * cols);
      kernel->pack(right, packed.data());
      MatrixOf<TestType> before(rows, cols), on_the_way(rows, cols);
      kernel->multiply_packed(left, {packed.data(), inner, cols}, cols, before.data(), cols);
      kernel->multiply(left, right, on_the_way.data(), cols, false);
      CHECK(before == on_the_way);
    }
}

TEST_CASE("a packed operand gives what the product gives, and as few columns as can be had") {
  const Matrix a = random_matrix(30, 40, 1), b = random_matrix(40, 333, 2);
  const PackedOperand<double> packed(b), transposed(Matrix(b.transpose()).transpose());
  CHECK(packed.columns_for(333) == 333);
  CHECK(packed.columns_for(1000) == 333);
  CHECK(packed.columns_for(0) == 0);
  for (const Index wanted : {1, 30, 100, 332, 333}) {
    const Index cols = packed.columns_for(wanted);
    CHECK(cols >= wanted);
    CHECK(cols < wanted + 64);
    Matrix out(30, cols), other(30, cols);
    packed.multiply(out, a);
    transposed.multiply(other, a);
    CHECK((out - a * b.leftCols(cols)).cwiseAbs().maxCoeff() < 1e-13);
    CHECK(out == other);
  }
  Matrix out(30, 333);
  packed.multiply(out, a.leftCols(7));
  CHECK((out - a.leftCols(7) * b.topRows(7)).cwiseAbs().maxCoeff() < 1e-13);
}

TEMPLATE_TEST_CASE("neither products nor softmax depend on where numbers lie in memory", "", float, double) {
  constexpr Index most = 16, inner = 40, cols = 43;
  const MatrixOf<TestType> a = random_matrix(5, inner, 1).cast<TestType>(),
                           b = random_matrix(inner, cols, 2).cast<TestType>();
  struct Shape {
    Index rows, inner, cols;
  };
  for (const Kernels<TestType>* kernel : kernels_here<TestType>())
    for (const Shape& shape : {Shape{5, 40, 43}, Shape{5, 3, 43}, Shape{2, 5, 9}, Shape{4, 7, 5}, Shape{5, 40, 1}}) {
      CAPTURE(shape.rows, shape.inner, shape.cols, sizeof(TestType));
      const auto computed = [&](Index from) {
        VectorOf<TestType> memory = VectorOf<TestType>::Zero(shape.rows * shape.cols + most);
        kernel->multiply({a.data(), shape.rows, shape.inner, inner, true},
                         {b.data(), shape.inner, shape.cols, cols, true}, memory.data() + from, shape.cols, false);
        for (Index row = 0; row < shape.rows; ++row)
          kernel->softmax(memory.data() + from + row * shape.cols, shape.cols);
        return VectorOf<TestType>(memory.segment(from, shape.rows * shape.cols));
      };
      for (Index from = 1; from < most; ++from) CHECK(computed(from) == computed(0));
    }
}

TEST_CASE("blocks, views and transposes multiply as they stand") {
  const Matrix a = random_matrix(9, 12, 1), b = random_matrix(12, 10, 2);
  const Matrix expected = a.block(1, 2, 5, 6) * b.block(3, 1, 6, 7);
  CHECK((product(a.block(1, 2, 5, 6), b.block(3, 1, 6, 7)) - expected).cwiseAbs().maxCoeff() < 1e-14);
  const MatrixView view = b;
  CHECK((product(a, view) - a * b).cwiseAbs().maxCoeff() < 1e-14);
  CHECK((product(view.transpose(), a.transpose()) - (a * b).transpose()).cwiseAbs().maxCoeff() < 1e-14);
  Matrix sum = Matrix::Ones(9, 10);
  multiply_add(sum, a, b);
  CHECK((sum - Matrix::Ones(9, 10) - a * b).cwiseAbs().maxCoeff() < 1e-14);
  multiply(sum.middleCols(2, 3), a, b.leftCols(3));
  CHECK((sum.middleCols(2, 3) - a * b.leftCols(3)).cwiseAbs().maxCoeff() < 1e-14);
}

TEST_CASE("a column stays a column, a row a row, and what lies nowhere is evaluated first") {
  const Matrix a = random_matrix(7, 5, 1), b = random_matrix(5, 6, 2);
  const Vector x = random_matrix(5, 1, 3), scale = random_matrix(5, 1, 4);
  const Vector along = product(a, x);
  CHECK((along - a * x).cwiseAbs().maxCoeff() < 1e-14);
  const Eigen::RowVectorXd across = product(x.transpose(), b);
  CHECK((across - x.transpose() * b).cwiseAbs().maxCoeff() < 1e-14);
  CHECK((product(a.row(2), b) - a.row(2) * b).cwiseAbs().maxCoeff() < 1e-14);
  CHECK((product(a, b.col(1)) - a * b.col(1)).cwiseAbs().maxCoeff() < 1e-14);  // of which entries lie apart
  CHECK((product(a, scale.asDiagonal() * b) - a * scale.asDiagonal() * b).cwiseAbs().maxCoeff() < 1e-14);
  CHECK((product(a.cwiseAbs(), x.cwiseAbs()) - a.cwiseAbs() * x.cwiseAbs()).cwiseAbs().maxCoeff() < 1e-14);
  const Eigen::MatrixXd by_columns = a;
  CHECK((product(by_columns.transpose(), by_columns) - a.transpose() * a).cwiseAbs().maxCoeff() < 1e-14);
}

TEST_CASE("a Gram matrix is a^T a, and symmetric to the bit") {
  for (const Index width : {1, 7, 96, 97, 230}) {
    CAPTURE(width);
    const Matrix a = random_matrix(40, width, 6), found = gram_of(a);
    CHECK((found - a.transpose() * a).cwiseAbs().maxCoeff() < 1e-12);
    CHECK(found == found.transpose());
  }
  CHECK(gram_of(Matrix(3, 0)).size() == 0);
  CHECK(gram_of(Matrix(0, 2)) == Matrix::Zero(2, 2));
}

TEST_CASE("a complex matrix times a real one is the product of its parts") {
  const MatrixOf<std::complex<double>> a =
      random_matrix(6, 4, 1) + std::complex<double>(0, 1) * random_matrix(6, 4, 2).cast<std::complex<double>>();
  const Matrix b = random_matrix(4, 5, 3);
  CHECK((product_with_real(a, b) - a * b.cast<std::complex<double>>()).cwiseAbs().maxCoeff() < 1e-14);
}
