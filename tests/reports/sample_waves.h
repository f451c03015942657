#pragma once

#include "sample_result.h"

namespace headwave::sample {

/// Adds what figures of positions, redefined queries and keys and their covariances draw: position_components,
/// position_correlation, redefined, qk_svd/gain, wave_spectra, periodic_columns/peak_frequency, cross_covariance. Every
/// head is a wave that is delayed by its planted offset; formulas again, no chance.
void add_waves(Result& result, const Size& size);

}  // namespace headwave::sample
