// Attention of given queries and keys, tile by tile, and where it lands.
#include <cstdio>
#include <random>

#include "headwave/analysis/attention/offset_trace.h"
#include "headwave/core/attention/attend.h"

namespace hw = headwave;

/// Counts how often a query gives a key more than half of its weight.
class Certain : public hw::Probe {
 public:
  using hw::Probe::see;
  void see(const hw::Tile& tile) override {
    for (const auto& weights : tile.weights) count += static_cast<int>((weights.array() > 0.5F).count());
  }
  int count = 0;
};

int main() {
  // Two heads of 8 channels over 64 tokens: each key holds what the query three tokens before it asks for.
  const hw::Index tokens = 64, heads = 2, d_head = 8, offset = 3;
  std::mt19937 random(1);
  std::normal_distribution<float> normal;
  hw::Matrix32 query(tokens, heads * d_head), key(tokens, heads * d_head);
  for (float& entry : query.reshaped()) entry = 3 * normal(random);
  for (hw::Index i = 0; i < tokens; ++i) key.row((i + offset) % tokens) = query.row(i);

  hw::Document document;
  document.ids.resize(tokens);
  const hw::HeadGrid grid{{0}, heads};
  hw::OffsetTraceProbe traces(grid, document, 8);
  Certain certain;
  hw::Probe* const probes[] = {&traces, &certain};

  hw::HeadInputs<float> inputs;
  inputs.query = query;
  inputs.key = key;
  inputs.heads = inputs.kv_heads = heads;
  inputs.scale = 0.35;
  hw::attend<float>(inputs, {}, {}, probes);

  const auto found = traces.taken();
  const hw::Matrix& trace = found.trace[static_cast<std::size_t>(hw::Pairs::all)];
  hw::Index at = 0;
  trace.row(0).maxCoeff(&at);
  std::printf("attention lands at t = %td; %d of %td queries are certain\n", at - (tokens - 1), certain.count,
              tokens * heads);
  return at - (tokens - 1) == offset ? 0 : 1;
}
