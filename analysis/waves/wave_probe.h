#pragma once

#include <vector>

#include "../../core/attention/probe.h"
#include "../../core/numbers/fft.h"
#include "wave_head.h"

namespace headwave {

/// One layer of the wave chain as a document passes.
struct WaveLayer {
  Index layer = 0;   ///< its number
  Index place = 0;   ///< among the grid's layers
  Matrix states;     ///< (T, d_model)  what enters the layer's projections, widened to double
  MatrixC spectrum;  ///< (floor(T/2) + 1, d_model)  its transform
};

/// Something that is shown the redefined queries and keys of every head while a document passes. Nothing of what it is
/// shown outlives the call.
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

/// Looks at the states that enter every layer, computes every head's redefined queries and keys once, and shows them to
/// whoever wants to follow the wave through them.
class WaveProbe : public Probe {
 public:
  /// @param heads      rows of the grid; it and what else is referred to must outlive the probe
  /// @param length     T; states of another length pass unseen
  WaveProbe(const Stack& stack, const HeadGrid& grid, AttentionKind kind, Index length,
            const std::vector<WaveHead>& heads, std::vector<WaveListener*> listeners);
  using Probe::see;
  void see(const LayerInput& input) override;
  void see(const Tile& /*tile*/) override {}

 private:
  const Stack& stack_;
  const HeadGrid& grid_;
  AttentionKind kind_;
  Index length_;
  const std::vector<WaveHead>& heads_;
  std::vector<WaveListener*> listeners_;
};

}  // namespace headwave
