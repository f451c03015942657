#pragma once

#include <string>
#include <vector>

#include "../drawing/figure.h"

namespace headwave {

/// One curve with its band: the mean over the columns of a table, and the quartiles over these columns.
struct SpectrumCurve {
  std::vector<double> mean;   ///< (frequencies) mean amplitude
  std::vector<double> lower;  ///< (frequencies) lower quartile; empty: no band
  std::vector<double> upper;
};

/// What one panel shows.
struct LabelledSpectrum {
  std::string label;              ///< the model's name, which may contain any characters; may be empty
  std::vector<double> frequency;  ///< (frequencies) cycles per T tokens, ascending
  double length = 0.0;            ///< T in tokens: the period at frequency f is T / f
  SpectrumCurve positions;
  SpectrumCurve words;  ///< not shown if its mean is empty
};

/// Draws amplitude spectra, one panel for each, two panels to a row. The lower axis is frequency, the upper
/// axis is period in tokens, and amplitudes are on a logarithmic axis. Frequency 0 is left out.
/// @param spectra  at least one
/// @param page     width in inches, 2 to 7; 0: the width that the figure needs
Figure spectra_figure(const std::vector<LabelledSpectrum>& spectra, double page = 0);

/// Writes the caption of spectra_figure(), which names the models.
std::string spectra_caption(const std::vector<LabelledSpectrum>& spectra);

}  // namespace headwave
