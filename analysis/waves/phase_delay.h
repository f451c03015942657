#pragma once

#include <vector>

#include "../../core/fields/field.h"
#include "../pass/analysis.h"
#include "../statistics/false_discovery.h"
#include "../statistics/quantile.h"
#include "delay.h"
#include "qk_svd.h"

namespace headwave {

/// Adds one head to a histogram of amplitude over frequency and phase.
///
///     g(f, theta) = sum over directions p with arg lambda_p in theta's bin of |F[Q p](f)|     (1)
///
/// Here f >= 0, and theta in (-pi, pi] has bins of equal width. For keys, K p replaces Q p. A head that
/// shifts all its waves by Delta tokens has its ridge at theta = 2 pi f Delta / T. A ridge at constant theta
/// is one phase at all frequencies, not a shift. Directions that keys hardly read have a small retention.
///
/// Source: Yamamoto and Matsuzaki 2023, section 3.5.
/// @param spectra    (rows, (floor(T/2) + 1) * bins)  g, frequencies outermost
/// @param amplitude  direction_spectra() of the queries, or of the keys
void add_phases(Matrix& spectra, Index row, const PhaseRotation& rotation, const Matrix& amplitude, Index bins);

/// The bins of phase_bin() in ascending order, each named by its middle in radian.
Axis phase_axis(Index bins);

/// Cross-spectrum that the phases of M predict from the queries' waves.
///
///     C(f) = sum_p w_p lambda_p |F[Q p](f)|^2,   w_p = sum_j gain[j] |p_j|^2                    (2)
///
/// The sum is over the directions p of M, see phase_rotation(). w_p is the gain that a direction carries. If
/// every p turns its wave by the delay that the keys really have, (2) has the same delay as the
/// cross-spectrum of queries and keys.
/// @param gain       (k or more)  gains of the redefined columns
/// @param amplitude  (floor(T/2) + 1, k)  direction_spectra() of the queries
Eigen::VectorXcd phase_cross_spectrum(const PhaseRotation& rotation, const Vector& gain, const Matrix& amplitude);

/// Cross-spectra of single documents, and of the null, summed over documents.
struct CrossSpectra {
  ByDocument<MatrixC> by_document;  ///< (floor(T/2) + 1, rows) each
  std::vector<MatrixC> null;        ///< one for each draw, (floor(T/2) + 1, rows)
  Index null_documents = 0;         ///< the null is summed over this number of first documents; 0: over all documents
};

struct PhaseDelayOptions : ResampleOptions {
  DelayOptions delay;
  double level = 0.05;  ///< accepted share of false offsets among the offsets given (false discovery rate)
};

/// Delay of every head, to a fraction of a token, with interval over documents and test of coherence.
struct PhaseDelay {
  MatrixC cross;                                 ///< (floor(T/2) + 1, rows)  mean over documents
  Vector estimate;                               ///< (rows)  t^ in tokens; NaN if undefined or at the end of the search
  Vector offset;                                 ///< (rows)  t^ if the coherence exceeds its null; NaN otherwise
  std::vector<PredictedStatus> status;           ///< (rows)
  Vector coherence, runner_up, runner_up_share;  ///< (rows)  as in Delay
  Vector lower, upper;      ///< (rows)  ends of the interval, in tokens; NaN: no estimate, or too few documents
  Vector p_value, q_value;  ///< (rows)  p-value and q-value of the coherence; NaN: no null
};

/// Delays of the mean cross-spectrum, with bootstrap intervals over documents and p-values of the coherence.
/// In the null, the keys of a head read random directions with the same gains. If the null is summed over the
/// first documents only, p-values use the coherence over these, since averaging raises coherence.
///
/// An interval is for the t^ of infinitely many documents, which is not quite the head's offset. Waves
/// between frequency bins draw t^ towards 0, by up to about 7 / T tokens. If states contain more than waves,
/// every token also matches itself, which adds a peak at offset 0.
/// @param length  T
PhaseDelay phase_delay(const CrossSpectra& spectra, Index length, const PhaseDelayOptions& options = {});

}  // namespace headwave
