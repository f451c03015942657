// The pass of random models as large as MiniLM and roberta-base, without probes: one document of 512 tokens, one
// thread. Its speed is a share of that of the fastest float32 matrix product, which is measured, too.

#include "../core/model/model_pass.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <deque>

#include <benchmark/benchmark.h>

#include "../core/algebra/product.h"
#include "drawn.h"

using namespace headwave;

namespace {

constexpr Index length = 512;

/// A post-norm encoder of random weights, in BERT's layout.
struct RandomEncoder {
  std::deque<Matrix32> matrices;
  std::deque<Vector32> vectors;
  Random random = Random(3);
  Model model;

  RandomEncoder(Index layers, Index d_model, Index heads, Index wide) {
    Stack& stack = model.stack;
    stack.block.heads = stack.block.kv_heads = heads;
    stack.block.d_head = d_model / heads;
    stack.block.score_scale = 1 / std::sqrt(static_cast<double>(stack.block.d_head));
    stack.embedding.words = matrix(1000, d_model);
    for (Index layer = 0; layer < layers; ++layer) {
      Block& block = stack.blocks.emplace_back();
      block.self = {linear(d_model, d_model), linear(d_model, d_model), linear(d_model, d_model),
                    linear(d_model, d_model)};
      block.feed_forward = {linear(wide, d_model), {}, linear(d_model, wide)};
      block.self_norm = block.feed_forward_norm = {ones(d_model), vector(d_model), 1e-12F, NormKind::layer};
    }
  }
  MatrixView32 matrix(Index rows, Index cols) {
    return matrices.emplace_back((0.02 * drawn(rows, cols, random)).cast<float>());
  }
  VectorView32 vector(Index size) { return vectors.emplace_back(Vector32::Zero(size)); }
  VectorView32 ones(Index size) { return vectors.emplace_back(Vector32::Ones(size)); }
  Linear linear(Index out, Index in) { return {matrix(out, in), vector(out)}; }
};

/// Operations of a pass: two per entry of a weight and token, and two per pair of tokens and channel of Q K^T and A V.
double operations(const Stack& stack) {
  double weights = 0;
  for (const Block& block : stack.blocks) {
    for (const Linear& map : {block.self.query, block.self.key, block.self.value, block.self.output,
                              block.feed_forward.widen, block.feed_forward.narrow})
      weights += static_cast<double>(map.weight.size());
  }
  const auto tokens = static_cast<double>(length);
  return 2 * tokens * weights + 4 * tokens * tokens * static_cast<double>(stack.d_model() * stack.layers());
}

void model_pass_512(benchmark::State& state, Index layers, Index d_model, Index heads, Index wide) {
  const RandomEncoder encoder(layers, d_model, heads, wide);
  Document document;
  for (Index i = 0; i < length; ++i) document.ids.push_back(static_cast<std::int32_t>((7 * i) % 1000));
  for (auto _ : state) benchmark::DoNotOptimize(model_pass(encoder.model, document, {}, {.final_states = true}).data());
  state.counters["flops"] =
      benchmark::Counter(operations(encoder.model.stack), benchmark::Counter::kIsIterationInvariantRate);
}

/// The fastest of many square products, which shows what the machine can do.
void best_product(benchmark::State& state) {
  double best = 0;
  Random random(4);
  for (auto _ : state)
    for (const Index size : {384, 512, 768, 1024}) {
      const Matrix32 a = drawn(size, size, random).cast<float>(), b = drawn(size, size, random).cast<float>();
      Matrix32 product(size, size);
      for (int repeat = 0; repeat < 20; ++repeat) {
        const auto start = std::chrono::steady_clock::now();
        multiply(product, a, b.transpose());
        benchmark::DoNotOptimize(product.data());
        const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
        best = std::max(best, 2 * static_cast<double>(size * size * size) / seconds.count());
      }
    }
  state.counters["flops"] = best;
}

}  // namespace

BENCHMARK(best_product)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(model_pass_512, minilm, 6, 384, 12, 1536)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(model_pass_512, roberta_base, 12, 768, 12, 3072)->Unit(benchmark::kMillisecond);
