#pragma once

#include <string>
#include <vector>

#include "../drawing/figure.h"

namespace headwave {

/// One curve with its band: a mean over columns, and the quartiles.
struct SpectrumCurve {
  std::vector<double> mean;   ///< (frequencies) amplitude
  std::vector<double> lower;  ///< (frequencies) lower quartile; empty: no band
  std::vector<double> upper;
};

/// The content of one panel.
struct LabelledSpectrum {
  std::string label;              ///< the model's name, from anywhere; may be empty
  std::vector<double> frequency;  ///< (frequencies) cycles per T tokens, ascending
  double length = 0.0;            ///< T in tokens: the period at frequency f is T / f
  SpectrumCurve positions;
  SpectrumCurve words;  ///< mean empty: not shown
};

/// Draws amplitude spectra side by side, one panel each, two to a row: frequency below, period in tokens
/// above, amplitude on a logarithmic axis. Frequency 0 is left out.
/// @param spectra  at least one
Figure spectra_figure(const std::vector<LabelledSpectrum>& spectra, double page = 0);

/// The caption of this figure, which names the models.
std::string spectra_caption(const std::vector<LabelledSpectrum>& spectra);

}  // namespace headwave
