// Compiled for AVX-512, whatever the rest is compiled for (core's CMake says so), without shared headers.

#include "kernels.h"

#ifdef __AVX512F__
#define Eigen EigenOf512Bits
#include "kernels_of.h"
#endif

namespace headwave {

template <class Scalar>
const Kernels<Scalar>* avx512_kernels() {
#ifdef __AVX512F__
  return &vector_kernels::all_kernels<Scalar>;
#else
  return nullptr;
#endif
}

template const Kernels<float>* avx512_kernels();
template const Kernels<double>* avx512_kernels();

}  // namespace headwave
