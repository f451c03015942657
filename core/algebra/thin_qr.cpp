#include "thin_qr.h"

#include <algorithm>

#include <Eigen/QR>

namespace headwave {

ThinQr thin_qr(const Matrix& a) {
  const Index n = std::min(a.rows(), a.cols());
  const Eigen::HouseholderQR<Eigen::MatrixXd> qr(a);  // column-major: reflections walk down columns
  return {qr.householderQ() * Eigen::MatrixXd::Identity(a.rows(), n),
          qr.matrixQR().topRows(n).triangularView<Eigen::Upper>()};
}

}  // namespace headwave
