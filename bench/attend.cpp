// Attention of one layer without probes, as in a model pass: 12 heads of 64, float, one thread, 512 to 16,384 tokens.

#include "../core/attention/attend.h"

#include <cmath>

#include <benchmark/benchmark.h>

#include "drawn.h"

using namespace headwave;

namespace {

constexpr Index heads = 12, d_head = 64;

void attend_tokens(benchmark::State& state, bool causal) {
  const Index length = state.range(0);
  Random random(2);
  const Matrix32 query = drawn(length, heads * d_head, random).cast<float>();
  const Matrix32 key = drawn(length, heads * d_head, random).cast<float>();
  const Matrix32 value = drawn(length, heads * d_head, random).cast<float>();
  const HeadInputs<float> inputs{query, key, value, heads, heads, 1 / std::sqrt(static_cast<double>(d_head))};
  Mask<float> mask;
  mask.causal = causal;
  for (auto _ : state) benchmark::DoNotOptimize(attend<float>(inputs, mask, {}, {}).data());
  // Q K^T and A V take two operations per entry and channel. A causal mask keeps the lower triangle of both.
  const double entries = static_cast<double>(length) * static_cast<double>(causal ? length + 1 : 2 * length) / 2;
  state.counters["flops"] = benchmark::Counter(4 * entries * static_cast<double>(heads * d_head),
                                               benchmark::Counter::kIsIterationInvariantRate);
}

}  // namespace

BENCHMARK_CAPTURE(attend_tokens, every_key, false)
    ->RangeMultiplier(2)
    ->Range(512, 16384)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(attend_tokens, causal, true)->RangeMultiplier(2)->Range(512, 16384)->Unit(benchmark::kMillisecond);
