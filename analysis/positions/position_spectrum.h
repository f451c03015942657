#pragma once

#include <string>
#include <vector>

#include "../../core/fields/field.h"
#include "../../core/numbers/fft.h"
#include "../../core/numbers/matrix.h"
#include "../pass/analysis.h"

namespace headwave {

struct PositionSpectrumOptions {
  SpectrumOptions spectrum;         ///< by default as published: rectangular window, nothing subtracted
  Index peaks = 8;                  ///< largest number of peaks to list
  double minimum_prominence = 0.1;  ///< least prominence of a peak, relative to the largest mean amplitude at f >= 1
};

/// Mean and quartiles of the amplitude spectrum over columns.
struct SpectrumQuartiles {
  Vector mean;   ///< (floor(T/2) + 1)  in the unit of the embedding
  Vector lower;  ///< (floor(T/2) + 1)
  Vector upper;  ///< (floor(T/2) + 1)
};

/// A local maximum of the mean amplitude.
struct SpectrumPeak {
  Index frequency = 0;      ///< f >= 1 in cycles per T
  double prominence = 0.0;  ///< height above the higher one of the two valleys that separate the peak from higher peaks
};

/// Amplitude spectrum of a position embedding of T positions.
struct PositionSpectrum {
  Index length = 0;  ///< T
  Matrix amplitude;  ///< (floor(T/2) + 1, d_model)  |DFT| of each column, not normalised
  SpectrumQuartiles positions;
  SpectrumQuartiles words;          ///< the same for the word embeddings of a document; empty if they are not given
  Vector cumulative_energy;         ///< (floor(T/2) + 1)  share of non-constant energy up to f; NaN: there is none
  std::vector<SpectrumPeak> peaks;  ///< most prominent first
  std::string undefined;            ///< why there is no spectrum; otherwise empty
  PositionSpectrumOptions options;
};

/// Computes the amplitude spectrum of every column of a position embedding, its mean and quartiles over
/// columns, and the peaks and energy of the embedding.
///
///     P[f, c] = |sum_n w[n] pe[n, c] e^{-2 pi i f n / T}|,   f = 0 .. floor(T/2) cycles per T         (1)
///     E(f) = sum_{0 < g <= f} m_g sum_c P[g, c]^2 / sum_{0 < g} m_g sum_c P[g, c]^2                   (2)
///
/// m_g is 2, since negative frequencies count too, but 1 at g = T/2. Peaks are local maxima, at f >= 1, of
/// the mean over columns. The ends of the range can be peaks, too. Peaks below the minimum prominence are
/// omitted. The mean hides columns that differ, but the quartiles show them.
///
/// Source: Yamamoto and Matsuzaki 2023, section 3.2.
/// @param positions  (T, d_model)  rows of the position table for tokens 0 .. T-1; no rows if none exists
/// @param words      (T, d_model)  word embeddings of one document before positions are added; or empty
/// @throws ShapeError if words are given and not as long as positions; NumericError if an entry is not finite
PositionSpectrum position_spectrum(MatrixView positions, MatrixView words = {},
                                   const PositionSpectrumOptions& options = {});

/// Fields position_spectrum/..., the mean first. Without a spectrum, there is only a NaN with the reason.
std::vector<Field> describe(const PositionSpectrum& spectrum);

/// Every analysis of the position table reads this option.
inline constexpr OwnOption rows_option{
    "rows",
    "number of rows of the position table to read, from the first; 0: those that look trained",
    0,
    2,
    1'000'000'000,
    true};

}  // namespace headwave
