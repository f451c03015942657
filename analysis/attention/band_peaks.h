#pragma once

#include <vector>

#include "band_trace.h"

namespace headwave {

/// A single offset beyond the reach at which a head's attention piles up.
struct BandPeak {
  Index offset = 0;   ///< t, tokens
  double weight = 0;  ///< mean attention weight of the queries that have a key there
  double chance = 0;  ///< ... if it did not matter which of the band's queries gives a key its weight
  double excess = 0;  ///< share of the band's attention that lands there, less what chance puts there
};

struct BandPeakOptions {
  Index reach = 64;            ///< |t| from which on peaks are looked for, in tokens
  double level = 0.01;         ///< chance that a head which prefers no offset there shows one, in any of its bands
  double least_excess = 0.01;  ///< of the band's attention: what is less is no place where attention goes
  Index apart = 8;             ///< a peak is the largest within so many tokens on either side
  Index most = 3;              ///< of one band, the largest first
};

/// Peaks beyond the reach of one head, band by band.
///
///     excess_b(t) = (D_b(t) - E_b(t)) / queries of b                                           (3)
///
/// D, E, V as in BandTraces. t is a peak where (3) is at least least_excess; above what an independent sum of that
/// variance, and of weights no larger than the largest one there, exceeds with probability level / (number of offsets,
/// all bands together) (largest_excess(), tails.h); larger than at all other offsets within `apart`; and not at either
/// end of what the band's queries reach. What changes slowly over offsets, as weights under a causal mask do, has no
/// peak. Equal phrases far apart do, if many queries lie in them: a peak need not come from positions.
///
/// @param row  of the head
/// @returns one list for each band; empty: no peak
/// @throws NumericError if the level is not in (0, 1)
std::vector<std::vector<BandPeak>> band_peaks(const BandTraces& traces, const QueryBands& bands, Index row,
                                              const BandPeakOptions& options = {});

/// (3) of one offset; 0 where the band has no pair there.
double band_excess(const BandTraces& traces, const QueryBands& bands, Index row, Index band, Index offset);

}  // namespace headwave
