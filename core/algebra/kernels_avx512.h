#pragma once

#include "kernels.h"

namespace headwave {

/// Kernels of 512 bits; nullptr where they are not compiled (another kind of processor than x86-64). To be called only
/// where the processor has AVX-512.
template <class Scalar>
const Kernels<Scalar>* avx512_kernels();

}  // namespace headwave
