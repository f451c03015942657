#pragma once

#include <vector>

#include "../../core/attention/probe.h"
#include "../../core/fields/head_name.h"
#include "../../core/model/model.h"
#include "../../core/numbers/fft.h"
#include "../pass/analysis.h"
#include "qk_svd.h"

namespace headwave {

/// One head's redefined queries and keys over one document of T tokens, and their transforms: what every
/// analysis of the chain reads. Biases are left out; rotary positions are not applied.
struct HeadWaves {
  Index row = 0;  ///< of the HeadGrid
  const ChainHead* head = nullptr;
  Matrix query;            ///< (T, k)  Q = X U_Q
  Matrix key;              ///< (T, k)  K = X U_K
  MatrixC padded_query;    ///< (T + 1, k)  padded_spectrum() of Q
  MatrixC padded_key;      ///< (T + 1, k)
  MatrixC query_spectrum;  ///< (floor(T/2) + 1, k)  transform of Q
  MatrixC key_spectrum;    ///< (floor(T/2) + 1, k)

  [[nodiscard]] Index length() const { return query.rows(); }
  [[nodiscard]] Index rank() const { return query.cols(); }
};

/// @param query  (T, d_head)  x W_Q of this head, without bias
/// @param key    (T, d_head)  x W_K of the key head that it reads, without bias
HeadWaves head_waves(Index row, const ChainHead& head, const Matrix& query, const Matrix& key);

/// Which row of a matrix (heads * components, ...) belongs to a component of a head.
inline Index component_row(Index row, Index component, Index components) {
  return row * components + component;
}

/// Frequencies 0 .. floor(T/2), in cycles per T tokens.
Axis frequency_axis(Index length);

/// One layer of the wave chain as a document passes.
struct WaveLayer {
  Index layer = 0;   ///< its number
  Index place = 0;   ///< among the grid's layers
  Matrix states;     ///< (T, d_model)  what enters the layer's projections, widened to double
  MatrixC spectrum;  ///< (floor(T/2) + 1, d_model)  its transform
};

/// Sees the redefined queries and keys of every head while a document passes. Nothing that it sees outlives
/// the call.
class WaveListener {
 public:
  WaveListener() = default;
  WaveListener(const WaveListener&) = delete;
  WaveListener& operator=(const WaveListener&) = delete;
  virtual ~WaveListener() = default;
  virtual void begin(const WaveLayer& /*layer*/) {}
  /// Heads of a layer in order.
  virtual void see(const HeadWaves& waves) = 0;
  virtual void end(const WaveLayer& /*layer*/) {}
};

/// A listener that calls observe(sum, waves) for every head.
template <class Sum, class Observe>
class WaveObserver : public WaveListener {
 public:
  WaveObserver(Sum sum, Observe observe) : sum_(std::move(sum)), observe_(std::move(observe)) {}
  void see(const HeadWaves& waves) override { observe_(sum_, waves); }
  [[nodiscard]] Sum taken() { return std::move(sum_); }

 private:
  Sum sum_;
  Observe observe_;
};

/// A Look that calls observe(sum, waves) for every head.
/// @param sum  of no document yet, with matrices of the right shape
template <class Sum, class Observe>
std::unique_ptr<Look> observe_waves(Sum sum, Observe observe) {
  return look_of<WaveObserver<Sum, Observe>>(std::move(sum), std::move(observe));
}

/// Computes every head's redefined queries and keys once, from the states that enter a layer, and shows them
/// to all listeners.
class WaveProbe : public Probe {
 public:
  /// @param heads      rows of the grid; it and what else is referred to must outlive the probe
  /// @param length     T; states of another length pass unseen
  WaveProbe(const Stack& stack, const HeadGrid& grid, AttentionKind kind, Index length,
            const std::vector<ChainHead>& heads, std::vector<WaveListener*> listeners);
  using Probe::see;
  void see(const LayerInput& input) override;
  void see(const Tile& /*tile*/) override {}

 private:
  const Stack& stack_;
  const HeadGrid& grid_;
  AttentionKind kind_;
  Index length_;
  const std::vector<ChainHead>& heads_;
  std::vector<WaveListener*> listeners_;
};

}  // namespace headwave
