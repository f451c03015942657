// Singular pairs and phases of heads from the weights alone. Peer: peer_numpy.py, the same chain.

#include <cmath>
#include <cstdint>
#include <vector>

#include <benchmark/benchmark.h>

#include "../analysis/waves/qk_svd.h"
#include "../core/process/threads.h"
#include "drawn.h"

using namespace headwave;

namespace {

constexpr Index d_model = 768, d_head = 64;

struct Head {
  Matrix query, key;
};

std::vector<Head> drawn_heads(Index count) {
  std::vector<Head> heads;
  for (Index h = 0; h < count; ++h) {
    Random random = Random(1).stream(static_cast<std::uint64_t>(h));
    const double scale = 1 / std::sqrt(static_cast<double>(d_model));
    heads.push_back({scale * drawn(d_model, d_head, random), scale * drawn(d_model, d_head, random)});
  }
  return heads;
}

/// Takes the heads of one layer in turn, so that no head finds its own weights in the cache.
class Turn {
 public:
  const Head& next() { return heads_[at_++ % heads_.size()]; }

 private:
  std::vector<Head> heads_ = drawn_heads(12);
  std::size_t at_ = 0;
};

void wave_weights_one_head(benchmark::State& state) {
  Turn turn;
  for (auto _ : state) {
    const Head& head = turn.next();
    benchmark::DoNotOptimize(phase_rotation(qk_svd(head.query, head.key)).condition);
  }
}

void qk_svd_alone(benchmark::State& state) {
  Turn turn;
  for (auto _ : state) {
    const Head& head = turn.next();
    benchmark::DoNotOptimize(qk_svd(head.query, head.key).gain.data());
  }
}

void phase_rotation_alone(benchmark::State& state) {
  const Head head = drawn_heads(1).front();
  const QkSvd svd = qk_svd(head.query, head.key);
  for (auto _ : state) benchmark::DoNotOptimize(phase_rotation(svd).condition);
}

void wave_weights_144_heads(benchmark::State& state) {
  const std::vector<Head> heads = drawn_heads(144);
  std::vector<PhaseRotation> rotations(heads.size());
  for (auto _ : state) {
    parallel_for(static_cast<Index>(heads.size()), thread_count(0), [&](Index h) {
      const auto at = static_cast<std::size_t>(h);
      rotations[at] = phase_rotation(qk_svd(heads[at].query, heads[at].key));
    });
    benchmark::DoNotOptimize(rotations.data());
  }
  state.counters["cores"] = thread_count(0);
}

}  // namespace

BENCHMARK(wave_weights_one_head)->Unit(benchmark::kMillisecond);
BENCHMARK(qk_svd_alone)->Unit(benchmark::kMillisecond);
BENCHMARK(phase_rotation_alone)->Unit(benchmark::kMillisecond);
BENCHMARK(wave_weights_144_heads)->Unit(benchmark::kMillisecond)->MeasureProcessCPUTime()->UseRealTime();
