#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "../../core/attention/probe.h"
#include "cross_covariance.h"
#include "delay_spectrum.h"
#include "phase_spectrum.h"
#include "wave_head.h"
#include "wave_spectra.h"

namespace headwave {

struct WaveChainOptions {
  bool covariances = true;    ///< cross_covariance/...
  bool delays = true;         ///< delay_spectrum/... from the scores
  bool phases = true;         ///< phase_spectrum/... and phase_delay/... from the rotation
  bool spectra = true;        ///< wave_spectra/..., periodic_columns/...
  Index reach = 64;           ///< lags |t| <= reach are kept, in tokens
  Index bins = 64;            ///< of theta
  Index draws = 20;           ///< random readings of the keys for each head, the null of the delays
  Index rotations = 100;      ///< random rotations, of which every head's null of the phases takes `draws`
  Index phase_documents = 2;  ///< documents over which the null of the phases is drawn: it costs a transform each
  Index waves = 4;            ///< most periodic columns of each head whose course is kept, first document
  PeriodicOptions periodic;
  std::uint64_t seed = 1;
  int threads = 1;  ///< changes no digit
};

/// What all documents of a job share: the heads' decompositions, the random frames of the null.
struct WaveChainPlan {
  const Stack* stack = nullptr;
  HeadGrid grid;
  AttentionKind kind = AttentionKind::self;
  Index length = 0;  ///< T; documents of another length do not take part
  WaveChainOptions options;
  std::vector<WaveHead> heads;                        ///< rows of the grid
  Matrix frames;                                      ///< (d_model, draws * d_head)
  std::vector<std::vector<PhaseRotation>> rotations;  ///< of the null of the phases, by rank; empty: no head has it
  std::vector<std::vector<Index>> drawn;  ///< by row: which of them are its draws. Heads that shared all would err
                                          ///< together
  WaveSpectraSum spectra;                 ///< empty sum: its count and threshold
};

/// @param stack  must outlive the plan
/// @throws ShapeError, NumericError as wave_heads()
WaveChainPlan wave_chain_plan(const Stack& stack, const HeadGrid& grid, AttentionKind kind, Index length,
                              const WaveChainOptions& options);

/// Courses of the most periodic columns over a document's tokens.
struct ShownWaves {
  Matrix query, key;  ///< (rows * waves, T)  NaN: fewer columns
  Matrix component;   ///< (rows, waves)  which they are, from 1
};

/// What one document gives to the chain.
struct DocumentWaves {
  DocumentCovariances covariances;
  MatrixC cross, phase_cross;             ///< (floor(T/2) + 1, rows)
  std::vector<MatrixC> null, phase_null;  ///< one per draw
  PhaseSpectra phases;
  DocumentWaveSpectra spectra;
  ShownWaves shown;  ///< of the first document
};

/// Looks at the states that enter every layer and follows the wave through each head: redefined queries and keys,
/// their covariances, spectra, phases, and the cross-spectrum that tells the delay.
class WaveProbe : public Probe {
 public:
  /// @param number  of the document: the first one checks the identity of the weighted sum, and is shown
  WaveProbe(const WaveChainPlan& plan, Index number);
  void see(const LayerInput& input) override;
  void see(const Tile& /*tile*/) override {}
  /// What was found; once.
  [[nodiscard]] DocumentWaves taken() { return std::move(found_); }

 private:
  void add_head(const HeadWaves& waves, const MatrixC& random_keys);
  void add_phases(const HeadWaves& waves);
  void add_columns(const HeadWaves& waves);
  void show(const HeadWaves& waves, const std::vector<PeakShare>& peaks);

  const WaveChainPlan& plan_;
  Index number_;
  DocumentWaves found_;
};

/// The chain of a job.
struct WaveChain {
  CrossCovariances covariances;
  CrossSpectra scores, phases;
  PhaseSpectra phase_spectra;
  WaveSpectra spectra;
  ShownWaves shown;
};

/// Adds documents up in the order in which they are given.
class WaveChainSum {
 public:
  explicit WaveChainSum(const WaveChainPlan& plan);
  void add(DocumentWaves&& document);
  [[nodiscard]] WaveChain chain() const;

 private:
  const WaveChainPlan& plan_;
  CrossCovarianceSum covariances_;
  WaveSpectraSum spectra_;
  WaveChain chain_;
  Index documents_ = 0;
};

/// Fields redefined/query, redefined/key (layer, head, wave, position) and redefined/component.
std::vector<Field> describe(const ShownWaves& shown, const HeadGrid& grid);

}  // namespace headwave
