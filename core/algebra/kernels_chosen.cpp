#include <cstdlib>
#include <string_view>

#include <fmt/format.h>

#include "../errors/error.h"
#include "kernels.h"
#include "kernels_of.h"

#if defined(__x86_64__) && (defined(__GNUC__) || defined(__clang__))
#include <cpuid.h>
#endif

namespace headwave {

namespace {

/// Which vectors the processor has and the system saves. Read by cpuid, since not every compiler's library
/// fills in the data of __builtin_cpu_supports().
struct WideVectors {
  bool avx2 = false, avx512 = false;
};

WideVectors wide_vectors() {
  WideVectors found;
#if defined(__x86_64__) && (defined(__GNUC__) || defined(__clang__))
  unsigned a = 0, b = 0, c = 0, d = 0;
  constexpr unsigned basic = bit_FMA | bit_OSXSAVE;
  if (__get_cpuid(1, &a, &b, &c, &d) == 0 || (c & basic) != basic) return found;
  unsigned saved = 0, high = 0;  // 2 and 4: 256 bits; 32, 64 and 128: 512 bits
  asm volatile("xgetbv" : "=a"(saved), "=d"(high) : "c"(0));
  if (__get_cpuid_count(7, 0, &a, &b, &c, &d) == 0) return found;
  constexpr unsigned wide = bit_AVX512F | bit_AVX512BW | bit_AVX512CD | bit_AVX512DQ | bit_AVX512VL;
  found.avx2 = (b & bit_AVX2) != 0 && (saved & 0x06) == 0x06;
  found.avx512 = found.avx2 && (b & wide) == wide && (saved & 0xe6) == 0xe6;
#endif
  return found;
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
      return wide_vectors().avx512 ? avx512_kernels<Scalar>() : nullptr;
    case Vectors::avx2:
      return wide_vectors().avx2 ? avx2_kernels<Scalar>() : nullptr;
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
