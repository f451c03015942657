#pragma once

#include <vector>

#include "../../core/fields/field.h"
#include "../pass/analysis.h"
#include "../statistics/false_discovery.h"
#include "../statistics/quantile.h"
#include "delay.h"
#include "qk_svd.h"

namespace headwave {

/// Adds one head to a histogram of the energy of heads over frequency and phase:
///
///     g(f, theta) = sum over directions p with arg lambda_p in theta's bin of |F[Q p](f)|     (1)
///
/// for f >= 0 and theta in (-pi, pi], bins of equal width; the same of K p. A head that shifts all its waves
/// by Delta tokens has its energy on the ridge theta = 2 pi f Delta / T; a horizontal ridge is one phase at
/// all frequencies, and no shift. Directions whose wave survives badly have small retention: see
/// phase_rotation/retention.
///
/// Source: Yamamoto and Matsuzaki 2023, section 3.5.
/// @param spectra    (rows, (floor(T/2) + 1) * bins)  g, frequencies outermost
/// @param amplitude  direction_spectra() of the queries, or of the keys
void add_phases(Matrix& spectra, Index row, const PhaseRotation& rotation, const Matrix& amplitude, Index bins);

/// The bins of phase_bin() in ascending order, each known by its middle, in radian.
Axis phase_axis(Index bins);

/// The cross-spectrum that the phases of M alone give to the queries' waves,
///
///     C(f) = sum_p w_p lambda_p |F[Q p](f)|^2,   w_p = sum_j gain[j] |p_j|^2                    (2)
///
/// over its directions p; w_p is the gain that a direction carries. Where every |p| turns its wave by the delay that
/// the keys really have, (2) points where the cross-spectrum of queries and keys does.
/// @param gain       (k or more)  of the redefined columns
/// @param amplitude  (floor(T/2) + 1, k)  direction_spectra() of the queries
Eigen::VectorXcd phase_cross_spectrum(const PhaseRotation& rotation, const Vector& gain, const Matrix& amplitude);

/// Cross-spectra of documents, one by one, and those of their null summed over documents.
struct CrossSpectra {
  ByDocument<MatrixC> by_document;  ///< (floor(T/2) + 1, rows) each
  std::vector<MatrixC> null;        ///< one per draw, (floor(T/2) + 1, rows), summed over documents
  Index null_documents = 0;         ///< number of documents, from the first, over which the null is summed; 0: all
};

struct PhaseDelayOptions : ResampleOptions {
  DelayOptions delay;
  double level = 0.05;  ///< share of the heads given an offset that may be false
};

/// The delay of every head, to a fraction of a token, with its interval over documents and a test of its coherence.
struct PhaseDelay {
  MatrixC cross;                                 ///< (floor(T/2) + 1, rows)  mean over documents
  Vector estimate;                               ///< (rows)  t^ in tokens; NaN also at the end of the search
  Vector offset;                                 ///< (rows)  t^ if the coherence exceeds its null; NaN otherwise
  std::vector<PredictedStatus> status;           ///< (rows)  whether there is an offset, and why not
  Vector coherence, runner_up, runner_up_share;  ///< (rows)  as in Delay
  Vector lower, upper;                           ///< (rows)  ends of the interval, tokens; NaN: too few documents
  Vector p_value, q_value;                       ///< (rows)  of the coherence; NaN: no null
};

/// The delay spectrometer: delays() of the mean cross-spectrum, with percentile intervals over documents
/// drawn with replacement, and p-values against the coherence of the null's draws: heads whose keys read random
/// directions with the same gains. Where the null is drawn over the first documents alone, p-values use the coherence
/// over the same documents, since over more documents noise averages out and coherence rises.
///
/// An interval is about what t^ would be over ever more documents, which is not quite the head's offset: waves between
/// the bins draw t^ nearer to 0 by up to about 7 / T tokens; and where states hold more than waves, every token also
/// matches itself, which adds a peak at 0.
/// @param length  T
PhaseDelay phase_delay(const CrossSpectra& spectra, Index length, const PhaseDelayOptions& options = {});

}  // namespace headwave
