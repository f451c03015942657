#pragma once

#include <vector>

#include "../../core/numbers/matrix.h"

namespace headwave {

/// The heads with an offset of their own that attend to it most: rows of a head grid, the largest
/// weight first, of equal weights the first row first.
/// @param offset  (rows)  tokens; NaN: the head has none
/// @param weight  (rows)  mean attention weight at the offset
/// @param most    how many; fewer where fewer heads have an offset
/// @throws ShapeError if the two are not equally long
std::vector<Index> clearest_heads(const Vector& offset, const Vector& weight, Index most);

/// Mean of a number over the heads that have an offset.
/// @param offset  (rows)  tokens; NaN: the head has none
/// @param value   (rows)
/// @returns NaN where no head has an offset, or one that has is without a value
/// @throws ShapeError if the two are not equally long
double mean_with_offset(const Vector& offset, const Vector& value);

/// Share of the heads whose documents fall into few clusters only: whether a head is of one kind whatever it
/// reads.
///
///     1/rows #{ h : #{ k : share[h, k] > 0 } <= few }                                         (1)
///
/// With many documents, a single document in a third cluster excludes a head.
///
/// Source: Yamamoto and Matsuzaki 2023, section 3.1 and figure 1: the 100 vectors of every head fall in 1 or 2 of 6.
/// @param shares  (rows, k)  share of a head's documents in each cluster, as HeadClusters::shares
/// @param few     clusters, at most
/// @returns in [0, 1]; NaN where there are no heads
double concentrated_heads(MatrixView shares, Index few = 2);

/// How canonical correlations with the positions change from the first layer to the last.
struct CorrelationByDepth {
  Index high = 0;   ///< components of the first layer that correlate above the limit
  double fall = 0;  ///< mean correlation of the first layer less that of the last; NaN: one of them has a NaN
};

/// Two numbers for the published picture of CCA by layer: some components follow the positions closely at
/// first, and all of them less with depth.
///
///     high = #{ c : rho[0, c] > limit },   fall = mean_c rho[0, c] - mean_c rho[L - 1, c]     (1)
///
/// Source: Yamamoto and Matsuzaki 2023, extended version, correlation by layer; the limit is this project's.
/// @param correlation  (layers, components)  canonical correlations with the positions, of one truncation
/// @param limit        above which a component counts as highly correlated
/// @throws ShapeError if there are no layers or no components
CorrelationByDepth correlation_by_depth(MatrixView correlation, double limit = 0.9);

/// A band of frequencies, in cycles per `length` tokens; of documents of another length the same cycles per
/// token.
struct FrequencyBand {
  Index lowest = 40;  ///< the published peaks of roberta-base's positions lie between these
  Index highest = 60;
  Index length = 512;
};

/// How far a spectrum stands out in a band: its largest amplitude there over its median at all frequencies
/// but 0.
///
///     contrast = max_{f in band} A_f / median_{f >= 1} A_f                                    (1)
///
/// 1 or less: nothing stands out there; the published figures show peaks and give no number, for which (1)
/// stands. A wave outside the band does not count; one that holds half of all frequencies would raise the
/// median too.
///
/// Source: Yamamoto and Matsuzaki 2023, figures 3 and 5, for the peaks; (1) is this project's.
/// @param amplitude  (floor(T/2) + 1)  absolute DFT at f = 0, 1, ... cycles per T tokens
/// @param band       both ends rounded down to a frequency of the spectrum
/// @returns >= 0; NaN where the band holds no frequency f >= 1, an amplitude at f >= 1 is NaN, or all are 0
/// @throws NumericError if the band's length is less than 2
double band_contrast(const Vector& amplitude, const FrequencyBand& band = {});

}  // namespace headwave
