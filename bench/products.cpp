// Products x W^T of the shapes in a pass over 512 tokens, one thread: headwave's, and those of OpenBLAS and oneDNN if
// they are installed. HEADWAVE_VECTORS=avx2 keeps headwave, but not the others, from using AVX-512.

#include <benchmark/benchmark.h>

#include "../core/algebra/product.h"
#include "drawn.h"

#ifdef HEADWAVE_OPENBLAS
#include <cblas-openblas.h>
#endif
#ifdef HEADWAVE_ONEDNN
#include <omp.h>
#include <oneapi/dnnl/dnnl.h>
#endif

using namespace headwave;

namespace {

struct Operands {
  Matrix32 x, weight, out;

  Operands(Index rows, Index inner, Index cols) {
    Random random(6);
    x = drawn(rows, inner, random).cast<float>();
    weight = drawn(cols, inner, random).cast<float>();
    out.resize(rows, cols);
  }
};

template <class Multiply>
void measure(benchmark::State& state, const Multiply& multiply) {
  const Index rows = state.range(0), inner = state.range(1), cols = state.range(2);
  Operands of(rows, inner, cols);
  for (auto _ : state) {
    multiply(of);
    benchmark::DoNotOptimize(of.out.data());
  }
  state.counters["flops"] =
      benchmark::Counter(2.0 * static_cast<double>(rows * inner * cols), benchmark::Counter::kIsIterationInvariantRate);
}

void products_headwave(benchmark::State& state) {
  measure(state, [](Operands& of) { multiply(of.out, of.x, of.weight.transpose()); });
}

/// (rows, inner, columns) of projections and feed-forward in MiniLM and roberta-base, and of a tile of one head's scores.
void shapes(benchmark::internal::Benchmark* benchmark) {
  benchmark->Args({512, 384, 384})->Args({512, 384, 1536})->Args({512, 1536, 384});
  benchmark->Args({512, 768, 768})->Args({512, 768, 3072})->Args({512, 3072, 768})->Args({64, 32, 512});
  benchmark->Unit(benchmark::kMicrosecond);
}

BENCHMARK(products_headwave)->Apply(shapes);

#ifdef HEADWAVE_OPENBLAS
void products_openblas(benchmark::State& state) {
  openblas_set_num_threads(1);
  measure(state, [](Operands& of) {
    const auto rows = static_cast<int>(of.x.rows()), inner = static_cast<int>(of.x.cols());
    const auto cols = static_cast<int>(of.weight.rows());
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, rows, cols, inner, 1.0F, of.x.data(), inner, of.weight.data(),
                inner, 0.0F, of.out.data(), cols);
  });
}
BENCHMARK(products_openblas)->Apply(shapes);
#endif

#ifdef HEADWAVE_ONEDNN
void products_onednn(benchmark::State& state) {
  omp_set_num_threads(1);
  measure(state, [](Operands& of) {
    dnnl_sgemm('N', 'T', of.x.rows(), of.weight.rows(), of.x.cols(), 1.0F, of.x.data(), of.x.cols(), of.weight.data(),
               of.x.cols(), 0.0F, of.out.data(), of.weight.rows());
  });
}
BENCHMARK(products_onednn)->Apply(shapes);
#endif

}  // namespace
