#include "kernels.h"

#include <cstdlib>
#include <string_view>

#include <fmt/format.h>

#include "../errors/error.h"
#include "kernels_of.h"

namespace headwave {

namespace {

bool has_avx512() {
#if defined(__x86_64__) && (defined(__GNUC__) || defined(__clang__))
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
#else
  return false;
#endif
}

/// What the environment asks for.
bool asks_for_widest() {
  constexpr const char* variable = "HEADWAVE_VECTORS";
  const char* asked = std::getenv(variable);
  if (asked == nullptr || std::string_view(asked) == "widest") return true;
  if (std::string_view(asked) == "compiled") return false;
  throw FormatError(fmt::format("{}={} in the environment: expected widest or compiled", variable, asked));
}

bool uses_avx512() {
  static const bool uses = asks_for_widest() && has_avx512() && avx512_kernels<float>() != nullptr;
  return uses;
}

}  // namespace

template <class Scalar>
const Kernels<Scalar>& kernels() {
  static const Kernels<Scalar>& chosen =
      uses_avx512() ? *avx512_kernels<Scalar>() : vector_kernels::all_kernels<Scalar>;
  return chosen;
}

template const Kernels<float>& kernels();
template const Kernels<double>& kernels();

const char* instruction_set() {
  if (uses_avx512()) return "AVX-512";
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
