#include "wave_chain.h"

#include <algorithm>
#include <ranges>
#include <utility>

#include <fmt/format.h>

#include "../../core/algebra/product.h"
#include "../../core/fields/fields.h"
#include "../../core/model/model.h"
#include "../../core/numbers/lagged_sums.h"
#include "../../core/process/threads.h"

namespace headwave {

namespace {

/// A vector of every head, NaN beyond its length.
std::vector<double> by_component(const std::vector<ChainHead>& heads, Index components,
                                 const Vector& (*vector_of)(const ChainHead&)) {
  std::vector<double> values;
  for (const ChainHead& head : heads) {
    const Vector& vector = vector_of(head);
    for (Index c = 0; c < components; ++c) values.push_back(c < vector.size() ? vector[c] : not_defined);
  }
  return values;
}

}  // namespace

std::vector<ChainHead> chain_heads(const Stack& stack, const HeadGrid& grid, int threads) {
  std::vector<ChainHead> heads(static_cast<std::size_t>(grid.rows()));
  parallel_for(grid.rows(), threads, [&](Index row) {
    const Index layer = grid.layers[static_cast<std::size_t>(row / grid.heads)];
    const HeadWeights weights = head_weights(stack.queries_and_keys(layer)->self, stack.block, row % grid.heads);
    ChainHead& head = heads[static_cast<std::size_t>(row)];
    head.svd = qk_svd(weights.query, weights.key);
    head.rank = head.svd.rank();
    head.rotation = phase_rotation(head.svd);
    head.svd.query.resize(0, 0);
    head.svd.key.resize(0, 0);
  });
  return heads;
}

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

Axis component_axis(Index components) {
  return counting_axis("component", "1", "pair of directions, by descending gain", 1, components);
}

Axis frequency_axis(Index length) {
  return counting_axis("frequency", "cycles/T", "frequency in cycles per T tokens", 0, length / 2);
}

std::vector<Field> before_position_term(std::vector<Field> fields, const Stack& stack) {
  if (stack.position_term)
    for (Field& field : fields)
      field.attributes["position_term"] =
          fmt::format("left out: queries and keys before {}", stack.position_term.name());
  if (stack.block.soft_cap > 0)
    for (Field& field : fields) field.attributes["soft_cap"] = std::string("left out: scores before it");
  return fields;
}

namespace {

/// Gains, ranks, phases, retentions and conditions of the weights alone.
std::vector<Field> fields_of(const std::vector<ChainHead>& heads, const HeadGrid& grid) {
  const Axis layer = layer_axis(grid.layers), head = head_axis(grid.heads);
  Index components = 0;
  for (const ChainHead& one : heads) components = std::max<Index>(components, one.svd.gain.size());
  const Axis direction =
      counting_axis("direction", "1", "eigenvector of M = U_Q^T U_K, by descending retention", 1, components);
  const char* const beyond = "beyond the head's numerical rank";
  Fields svd("qk_svd");
  svd.add("gain", {layer, head, component_axis(components)}, "1",
          "singular values of W_Q W_K^T, without the score scale",
          by_component(heads, components, [](const ChainHead& h) -> const Vector& { return h.svd.gain; }));
  svd.add("rank", {layer, head}, "1", "numerical rank of W_Q W_K^T", heads | std::views::transform(&ChainHead::rank))
      .note("cut", "singular values above max(d_model, d_head) eps times the largest");
  Fields rotation("phase_rotation");
  rotation
      .add("phase", {layer, head, direction}, "rad", "phase by which keys run ahead of queries, by direction",
           by_component(heads, components, [](const ChainHead& h) -> const Vector& { return h.rotation.phase; }))
      .undefined(beyond)
      .note("sign", "attention lands at t* = -T theta / (2 pi f)");
  rotation
      .add("retention", {layer, head, direction}, "1", "share of a direction that keys read as queries do, |lambda|",
           by_component(heads, components, [](const ChainHead& h) -> const Vector& { return h.rotation.retention; }))
      .undefined(beyond);
  rotation.add("condition", {layer, head}, "1", "condition number of the rotation's eigenvectors",
               heads | std::views::transform([](const ChainHead& h) { return h.rotation.condition; }));
  return svd.append(rotation.taken()).taken();
}

class QkSvdAnalysis : public Analysis {
 public:
  using Analysis::Analysis;
  void prepare(Finished& finished) override {
    finished.keep(ChainHeads{chain_heads(stack(), site().grid, input().threads)});
  }
  [[nodiscard]] std::vector<Field> finish(Finished& finished) override {
    return before_position_term(fields_of(finished.get<ChainHeads>().heads, site().grid), stack());
  }
};

}  // namespace

const AnalysisKind& qk_svd_analysis() {
  static const AnalysisKind kind{.name = "qk_svd",
                                 .asks = "What does each head match, from its weights: gains, rank, phases, retention?",
                                 .needs = {Need::weights},
                                 .chain = true,
                                 .make = make_of<QkSvdAnalysis>};
  return kind;
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
