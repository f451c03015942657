#pragma once

#include <vector>

#include "../../core/attention/probe.h"
#include "../../core/fields/head_name.h"
#include "../../core/model/model.h"
#include "../../core/numbers/fft.h"
#include "../pass/analysis.h"
#include "qk_svd.h"

namespace headwave {

/// One head's redefined queries and keys over a document of T tokens, and their transforms, for all analyses
/// of the wave chain. Biases and rotary positions are omitted.
struct HeadWaves {
  Index row = 0;  ///< row of the head in the HeadGrid
  const ChainHead* head = nullptr;
  Matrix query;            ///< (T, k)  Q = X U_Q
  Matrix key;              ///< (T, k)  K = X U_K
  MatrixC padded_query;    ///< (T + 1, k)  padded_spectrum() of Q
  MatrixC padded_key;      ///< (T + 1, k)
  MatrixC query_spectrum;  ///< (floor(T/2) + 1, k)
  MatrixC key_spectrum;    ///< (floor(T/2) + 1, k)

  [[nodiscard]] Index length() const { return query.rows(); }
  [[nodiscard]] Index rank() const { return query.cols(); }
};

/// Redefined queries and keys of one head, with their transforms.
/// @param query  (T, d_head)  x W_Q of this head, without bias
/// @param key    (T, d_head)  x W_K of the key head that this head reads, without bias
HeadWaves head_waves(Index row, const ChainHead& head, const Matrix& query, const Matrix& key);

/// Row of a head's component in a matrix (heads * components, ...).
inline Index component_row(Index row, Index component, Index components) {
  return row * components + component;
}

/// Frequencies 0 .. floor(T/2), in cycles per T tokens.
Axis frequency_axis(Index length);

/// States of one layer of the wave chain in one document.
struct WaveLayer {
  Index layer = 0;
  Index place = 0;   ///< index of the layer in the grid
  Matrix states;     ///< (T, d_model)  input of the layer's projections, in double
  MatrixC spectrum;  ///< (floor(T/2) + 1, d_model)
};

/// Sees the redefined queries and keys of every head during a document. Arguments do not outlive the call.
class WaveListener {
 public:
  WaveListener() = default;
  WaveListener(const WaveListener&) = delete;
  WaveListener& operator=(const WaveListener&) = delete;
  virtual ~WaveListener() = default;
  virtual void begin(const WaveLayer& /*layer*/) {}
  /// Called for the heads of a layer in order.
  virtual void see(const HeadWaves& waves) = 0;
  virtual void end(const WaveLayer& /*layer*/) {}
};

/// Listener that calls observe(sum, waves) for every head.
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

/// Look that calls observe(sum, waves) for every head.
/// @param sum  initial sum of the one document, with matrices of the right shape
template <class Sum, class Observe>
std::unique_ptr<Look> observe_waves(Sum sum, Observe observe) {
  return look_of<WaveObserver<Sum, Observe>>(std::move(sum), std::move(observe));
}

/// Computes redefined queries and keys of every head from the states that enter a layer, for all listeners.
class WaveProbe : public Probe {
 public:
  /// @param heads   heads in rows of the grid; all references must outlive the probe
  /// @param length  T; states of another length are ignored
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
