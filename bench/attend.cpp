// One layer's attention without probes, as a model pass does it: 512 tokens, 12 heads of 64, float, one thread.

#include "../core/attention/attend.h"

#include <cmath>

#include <benchmark/benchmark.h>

#include "drawn.h"

using namespace headwave;

namespace {

constexpr Index length = 512, heads = 12, d_head = 64;

void attend_512(benchmark::State& state, bool causal) {
  Random random(2);
  const Matrix32 query = drawn(length, heads * d_head, random).cast<float>();
  const Matrix32 key = drawn(length, heads * d_head, random).cast<float>();
  const Matrix32 value = drawn(length, heads * d_head, random).cast<float>();
  const HeadInputs<float> inputs{query, key, value, heads, heads, 1 / std::sqrt(static_cast<double>(d_head)), nullptr};
  Mask<float> mask;
  mask.causal = causal;
  for (auto _ : state) benchmark::DoNotOptimize(attend<float>(inputs, mask, {}, {}).data());
  // Q K^T and A V, two operations per entry and width; a causal mask leaves the lower triangle of both.
  const double entries = static_cast<double>(causal ? length * (length + 1) / 2 : length * length);
  state.counters["flops"] = benchmark::Counter(4 * entries * static_cast<double>(heads * d_head),
                                               benchmark::Counter::kIsIterationInvariantRate);
}

}  // namespace

BENCHMARK_CAPTURE(attend_512, every_key, false)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(attend_512, causal, true)->Unit(benchmark::kMillisecond);
