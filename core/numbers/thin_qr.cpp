#include "thin_qr.h"

#include <Eigen/QR>
#include <fmt/format.h>

namespace headwave {

ThinQr thin_qr(const Matrix& a) {
  if (a.cols() > a.rows())
    throw ShapeError(fmt::format("thin_qr: {} orthonormal columns in {} dimensions", a.cols(), a.rows()));
  const Eigen::HouseholderQR<Matrix> qr(a);
  return {qr.householderQ() * Matrix::Identity(a.rows(), a.cols()),
          qr.matrixQR().topRows(a.cols()).triangularView<Eigen::Upper>()};
}

}  // namespace headwave
