#pragma once

#include <vector>

#include "../../core/fields/field.h"
#include "../pass/analysis_kind.h"
#include "delay_spectrum.h"
#include "wave_chain.h"

namespace headwave {

/// Where the energy of heads lies in frequency and phase, summed over documents.
struct PhaseSpectra {
  HeadGrid grid;  ///< the same for all documents, as are the length and the bins
  Index length = 0, bins = 0, documents = 0;
  Matrix query;  ///< (rows, (floor(T/2) + 1) * bins)  amplitude, frequencies outermost
  Matrix key;    ///< the same of the keys
  template <class Self>
  static auto members(Self& self) {
    return std::tie(self.documents, self.query, self.key);
  }
};

/// Adds one head of one document to spectra of that document, a histogram of frequency and phase:
///
///     g(f, theta) = sum over directions p with arg lambda_p in theta's bin of |F[Q p](f)|     (1)
///
/// for f >= 0 and theta in (-pi, pi], bins of equal width; the same of K p. A head that shifts all its waves
/// by Delta tokens has its energy on the ridge theta = 2 pi f Delta / T; a horizontal ridge is one phase at
/// all frequencies, and no shift. Directions whose wave survives badly have small retention: see
/// phase_rotation/retention.
///
/// Source: Yamamoto and Matsuzaki 2023, section 3.5.
/// @param query_amplitude  direction_spectra() of the queries, @param key_amplitude  of the keys
void add_head(PhaseSpectra& document, Index row, const PhaseRotation& rotation, const Matrix& query_amplitude,
              const Matrix& key_amplitude);

/// The bins of phase_bin() in ascending order, each known by its middle, in radian.
Axis phase_axis(Index bins);

/// Spectra of one document, all zeros.
PhaseSpectra phase_spectra(const HeadGrid& grid, Index length, Index bins);

/// Fields phase_spectrum/query and phase_spectrum/key (layer, head, frequency, phase).
/// @param sum  over `documents` documents
std::vector<Field> describe(const PhaseSpectra& sum);

struct PhaseDelayOptions {
  Index bins = 64;           ///< of theta
  Index null_documents = 2;  ///< documents over which the null is drawn: it costs a transform each
};

/// Phases by which heads turn the waves of documents, summed over documents.
struct PhaseSums {
  PhaseSpectra spectra;
  CrossSpectra cross;  ///< what the rotation's phases make of the queries' waves, see phase_cross_spectrum()
  template <class Self>
  static auto members(Self& self) {
    return std::tie(self.spectra, self.cross);
  }
};

/// Gathers the energy of every head's directions by frequency and phase over one document, what the phases
/// make of the queries' waves, and what random rotations would.
class PhaseListener : public WaveListener {
 public:
  /// @param draws      0: no null over this document
  /// @param rotations  must outlive the listener
  PhaseListener(const HeadGrid& grid, Index length, Index bins, Index draws, const RandomRotations& rotations);
  void see(const HeadWaves& waves) override;
  [[nodiscard]] PhaseSums taken() { return std::move(found_); }

 private:
  const RandomRotations& rotations_;
  PhaseSums found_;
};

/// The delay read from the phases.
struct PhaseDelay {
  DelaySpectrum spectrum;
};

/// In a job: phase_spectrum/... and phase_delay/... Keeps a PhaseDelay for comparison.
const AnalysisKind& phase_delay_analysis();

}  // namespace headwave
