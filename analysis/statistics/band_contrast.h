#pragma once

#include "../../core/numbers/matrix.h"

namespace headwave {

/// A band of frequencies, in cycles per `length` tokens; of documents of another length the same cycles per token.
struct FrequencyBand {
  Index lowest = 40;  ///< the published peaks of roberta-base's positions lie between these
  Index highest = 60;
  Index length = 512;
};

/// How far a spectrum stands out in a band: its largest amplitude there over its median at all frequencies but 0.
///
///     contrast = max_{f in band} A_f / median_{f >= 1} A_f                                    (1)
///
/// 1 or less: nothing stands out there; the published figures show peaks and give no number, for which (1) stands. A
/// wave outside the band does not count; one that holds half of all frequencies would raise the median too.
///
/// Source: Yamamoto and Matsuzaki 2023, figures 3 and 5, for the peaks; (1) is this project's.
/// @param amplitude  (floor(T/2) + 1)  absolute DFT at f = 0, 1, ... cycles per T tokens
/// @param band       both ends rounded down to a frequency of the spectrum
/// @returns >= 0; NaN where the band holds no frequency f >= 1, an amplitude at f >= 1 is NaN, or all are 0
/// @throws NumericError if the band's length is less than 2
double band_contrast(const Vector& amplitude, const FrequencyBand& band = {});

}  // namespace headwave
