#pragma once

#include "figure_kind.h"

// Every sort of figure, in the order of the paper's argument: one line each. NAME is defined as NAME_figure()
// in the file of figures of its idea. clang-format off
#define HEADWAVE_FIGURES(figure)                                                                                       \
  figure(attention_map) figure(offset_profile) figure(attention_distance) figure(word_profile) figure(position_kernel) \
      figure(cluster_centroids) figure(cluster_shares) figure(cluster_sweep) figure(position_spectrum)                 \
          figure(position_components) figure(position_correlation) figure(redefined) figure(wave_spectra)              \
              figure(cross_covariance) figure(phase_spectrum) figure(offset_agreement) figure(account_profile)         \
                  figure(attention_bits) figure(rotary_wave) figure(rotary_use) figure(position_split)                 \
                      figure(head_types) figure(comparison) figure(score_sources)
// clang-format on

namespace headwave {

#define HEADWAVE_DECLARE_FIGURE(name) FigureKind name##_figure();
HEADWAVE_FIGURES(HEADWAVE_DECLARE_FIGURE)
#undef HEADWAVE_DECLARE_FIGURE

}  // namespace headwave
