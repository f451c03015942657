#pragma once

#include "figure_kind.h"

namespace headwave {

/// Every sort of figure, each defined in the file named above it.

// attention_map.cpp
FigureKind attention_map_figure();

// profiles.cpp: every head over offsets
FigureKind offset_profile_figure();
FigureKind word_profile_figure();
FigureKind position_kernel_figure();

// clusters.cpp
FigureKind cluster_centroids_figure();
FigureKind cluster_shares_figure();
FigureKind cluster_sweep_figure();

// positions.cpp: the position table, and what is left of it in hidden states
FigureKind position_spectrum_figure();
FigureKind position_components_figure();
FigureKind position_correlation_figure();

// waves.cpp: redefined queries and keys
FigureKind redefined_figure();
FigureKind wave_spectra_figure();
FigureKind cross_covariance_figure();

// phases.cpp
FigureKind phase_spectrum_figure();

// agreement.cpp
FigureKind offset_agreement_figure();

// account.cpp: why heads look where they look
FigureKind account_profile_figure();
FigureKind head_account_figure();
FigureKind head_types_figure();

// offset_by_query.cpp
FigureKind offset_by_query_figure();

// rotary.cpp
FigureKind rotary_wave_figure();
FigureKind rotary_use_figure();

// experiments.cpp: runs with something changed
FigureKind carried_waves_figure();
FigureKind re_aiming_figure();

// comparison.cpp
FigureKind comparison_figure();

// grid_offset.cpp: images
FigureKind grid_offset_figure();

// checkpoints.cpp
FigureKind checkpoint_counts_figure();
FigureKind checkpoint_heads_figure();

// layer_shares.cpp: bars of what every layer is made of
FigureKind score_sources_figure();
FigureKind position_split_figure();

}  // namespace headwave
