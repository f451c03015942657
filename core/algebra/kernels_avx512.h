#pragma once

#include "kernels.h"

namespace headwave {

/// AVX-512 kernels; nullptr if they are not compiled (not x86-64). Call only on a processor with AVX-512.
template <class Scalar>
const Kernels<Scalar>* avx512_kernels();

}  // namespace headwave
