#pragma once

#include <vector>

#include "../../core/fields/field.h"
#include "wave_head.h"

namespace headwave {

/// Where the energy of a job's heads lies in frequency and phase, mean over documents.
struct PhaseSpectra {
  HeadGrid grid;
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
/// for f >= 0 and theta in (-pi, pi], bins of equal width; the same of K p. A head that shifts all its waves by Delta
/// tokens has its energy on the ridge theta = 2 pi f Delta / T; a horizontal ridge is one phase at all frequencies, and
/// no shift. Directions whose wave survives badly have small retention: see phase_rotation/retention.
///
/// Source: Yamamoto and Matsuzaki 2023, section 3.5.
/// @param query_amplitude  direction_spectra() of the queries, @param key_amplitude  of the keys
void add_head(PhaseSpectra& document, Index row, const PhaseRotation& rotation, const Matrix& query_amplitude,
              const Matrix& key_amplitude);

/// The bins of phase_bin() in ascending order, each known by its middle, in radian.
Axis phase_axis(Index bins);

/// Empty spectra of a grid.
PhaseSpectra phase_spectra(const HeadGrid& grid, Index length, Index bins);

/// Fields phase_spectrum/query and phase_spectrum/key (layer, head, frequency, phase).
/// @param sum  over `documents` documents
std::vector<Field> describe(const PhaseSpectra& sum);

}  // namespace headwave
