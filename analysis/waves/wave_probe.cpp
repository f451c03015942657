#include "wave_probe.h"

#include <algorithm>
#include <utility>

#include "../../core/algebra/product.h"

namespace headwave {

namespace {

/// x W in double, without bias.
Matrix projected(const Matrix& x, const Linear& linear) {
  const Matrix weight = linear.weight.cast<double>();
  return product(x, weight.transpose());
}

}  // namespace

WaveProbe::WaveProbe(const Stack& stack, const HeadGrid& grid, AttentionKind kind, Index length,
                     const std::vector<WaveHead>& heads, std::vector<WaveListener*> listeners)
    : stack_(stack), grid_(grid), kind_(kind), length_(length), heads_(heads), listeners_(std::move(listeners)) {}

void WaveProbe::see(const LayerInput& input) {
  const Index place = grid_.place_of(input.layer);
  if (input.kind != kind_ || place < 0 || input.states.rows() != length_) return;
  const BlockSpec& block = stack_.block;
  const std::shared_ptr<const Block> held = stack_.queries_and_keys(input.layer);
  const AttentionWeights& weights = held->self;
  WaveLayer layer{input.layer, place, input.states.cast<double>(), {}};
  layer.spectrum = real_dft(layer.states);
  const Matrix query = projected(layer.states, weights.query), key = projected(layer.states, weights.key);

  for (WaveListener* listener : listeners_) listener->begin(layer);
  for (Index h = 0; h < block.heads; ++h) {
    const Index row = grid_.first_row(input.layer) + h;
    const Index key_head = block.key_head(h);
    Vector bias;
    if (!weights.query.bias.empty()) bias = weights.query.bias.segment(h * block.d_head, block.d_head).cast<double>();
    const HeadWaves waves =
        head_waves(row, heads_[static_cast<std::size_t>(row)], query.middleCols(h * block.d_head, block.d_head),
                   key.middleCols(key_head * block.d_head, block.d_head), bias);
    for (WaveListener* listener : listeners_) listener->see(waves);
  }
  for (WaveListener* listener : listeners_) listener->end(layer);
}

}  // namespace headwave
