#include "wave_chain.h"

#include <utility>

#include "../../core/algebra/product.h"
#include "../../core/numbers/lagged_sums.h"

namespace headwave {

HeadWaves head_waves(Index row, const ChainHead& head, const Matrix& query, const Matrix& key) {
  HeadWaves waves;
  waves.row = row;
  waves.head = &head;
  waves.query = product(query, head.svd.from_query);
  waves.key = product(key, head.svd.from_key);
  waves.padded_query = padded_spectrum(waves.query);
  waves.padded_key = padded_spectrum(waves.key);
  waves.query_spectrum = unpadded_rows(waves.padded_query);
  waves.key_spectrum = unpadded_rows(waves.padded_key);
  return waves;
}

Axis frequency_axis(Index length) {
  return counting_axis("frequency", "cycles/T", "frequency in cycles per T tokens", 0, length / 2);
}

namespace {

/// x W in double, without bias.
Matrix projected(const Matrix& x, const Linear& linear) {
  const Matrix weight = linear.weight.cast<double>();
  return product(x, weight.transpose());
}

}  // namespace

WaveProbe::WaveProbe(const Stack& stack, const HeadGrid& grid, AttentionKind kind, Index length,
                     const std::vector<ChainHead>& heads, std::vector<WaveListener*> listeners)
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
    const HeadWaves waves =
        head_waves(row, heads_[static_cast<std::size_t>(row)], query.middleCols(h * block.d_head, block.d_head),
                   key.middleCols(key_head * block.d_head, block.d_head));
    for (WaveListener* listener : listeners_) listener->see(waves);
  }
  for (WaveListener* listener : listeners_) listener->end(layer);
}

}  // namespace headwave
