#include "kernels.h"

#include <cstdlib>
#include <string_view>

#include <fmt/format.h>

#include "../errors/error.h"
#include "kernels_of.h"

namespace headwave {

namespace {

bool has_avx2() {
#if defined(__x86_64__) && (defined(__GNUC__) || defined(__clang__))
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
#else
  return false;
#endif
}

bool has_avx512() {
#if defined(__x86_64__) && (defined(__GNUC__) || defined(__clang__))
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
#else
  return false;
#endif
}

/// The widest vectors that the environment allows.
Vectors widest_allowed() {
  constexpr const char* variable = "HEADWAVE_VECTORS";
  const char* asked = std::getenv(variable);
  const std::string_view word = asked == nullptr ? "widest" : asked;
  if (word == "widest") return Vectors::avx512;
  if (word == "avx2") return Vectors::avx2;
  if (word == "compiled") return Vectors::compiled;
  throw FormatError(fmt::format("{}={} in the environment: expected widest, avx2 or compiled", variable, word));
}

Vectors widest() {
  static const Vectors chosen = [] {
    const Vectors allowed = widest_allowed();
    for (const Vectors vectors : {Vectors::avx512, Vectors::avx2})
      if (vectors <= allowed && kernels_for<float>(vectors) != nullptr) return vectors;
    return Vectors::compiled;
  }();
  return chosen;
}

}  // namespace

template <class Scalar>
const Kernels<Scalar>* kernels_for(Vectors vectors) {
  switch (vectors) {
    case Vectors::avx512:
      return has_avx512() ? avx512_kernels<Scalar>() : nullptr;
    case Vectors::avx2:
      return has_avx2() ? avx2_kernels<Scalar>() : nullptr;
    case Vectors::compiled:
      break;
  }
  return &vector_kernels::all_kernels<Scalar>;
}

template const Kernels<float>* kernels_for(Vectors);
template const Kernels<double>* kernels_for(Vectors);

template <class Scalar>
const Kernels<Scalar>& kernels() {
  static const Kernels<Scalar>& chosen = *kernels_for<Scalar>(widest());
  return chosen;
}

template const Kernels<float>& kernels();
template const Kernels<double>& kernels();

const char* instruction_set() {
  if (widest() == Vectors::avx512) return "AVX-512";
  if (widest() == Vectors::avx2) return "AVX2, FMA";
#if defined(__AVX512F__)
  return "AVX-512";
#elif defined(__AVX2__) && defined(__FMA__)
  return "AVX2, FMA";
#elif defined(__AVX__)
  return "AVX";
#elif defined(__SSE2__)
  return "SSE2";
#elif defined(__ARM_NEON)
  return "NEON";
#else
  return "none";
#endif
}

}  // namespace headwave
