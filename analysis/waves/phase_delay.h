#pragma once

#include <vector>

#include "../pass/analysis_kind.h"
#include "phase_spectrum.h"
#include "random_reading.h"
#include "score_delay.h"

namespace headwave {

struct PhaseDelayOptions {
  Index bins = 64;           ///< of theta
  Index null_documents = 2;  ///< documents over which the null is drawn: it costs a transform each
};

/// What one document says of the phases by which heads turn its waves.
struct DocumentPhases {
  DocumentCross cross;  ///< what the rotation's phases make of the queries' waves, see phase_cross_spectrum()
  Matrix query, key;    ///< as in PhaseSpectra
};

/// Gathers the energy of every head's directions by frequency and phase over one document, what the phases make of the
/// queries' waves, and what random rotations would.
class PhaseListener : public WaveListener {
 public:
  /// @param draws      0: no null over this document
  /// @param rotations  must outlive the listener
  PhaseListener(const HeadGrid& grid, Index length, Index bins, Index draws, const RandomRotations& rotations);
  void see(const HeadWaves& waves) override;
  [[nodiscard]] DocumentPhases taken();

 private:
  const RandomRotations& rotations_;
  PhaseSpectra spectra_;
  DocumentCross cross_;
};

/// The delay that the phases say.
struct PhaseDelay {
  DelaySpectrum spectrum;
};

/// In a job: phase_spectrum/... and phase_delay/..., a PhaseDelay for those who compare.
const AnalysisKind& phase_rotation_analysis();

}  // namespace headwave
