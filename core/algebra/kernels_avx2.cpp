// Compiled for AVX2 and FMA, whatever the rest is compiled for (core's CMake says so), without shared
// headers.

#include "kernels.h"

#if defined(__AVX2__) && defined(__FMA__)
#define Eigen EigenOf256Bits
#include "kernels_of.h"
#endif

namespace headwave {

template <class Scalar>
const Kernels<Scalar>* avx2_kernels() {
#if defined(__AVX2__) && defined(__FMA__)
  return &vector_kernels::all_kernels<Scalar>;
#else
  return nullptr;
#endif
}

template const Kernels<float>* avx2_kernels();
template const Kernels<double>* avx2_kernels();

}  // namespace headwave
