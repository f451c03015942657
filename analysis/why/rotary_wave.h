#pragma once

#include <vector>

#include "../../core/attention/position_term.h"
#include "../../core/fields/field.h"
#include "../../core/fields/head_name.h"
#include "../../core/numbers/fft.h"
#include "../pass/analysis.h"
#include "../statistics/false_discovery.h"
#include "../statistics/quantile.h"

namespace headwave {

/// Queries and keys of one document before they are turned, averaged over all tokens but the first, the usual
/// sink. Rows are heads of the grid; a key head stands in the row of every query head that reads it.
struct DocumentRotary {
  Matrix query, key;                  ///< (rows, d_head)  mean over tokens, with bias
  Matrix query_modulus, key_modulus;  ///< (rows, pairs)   mean modulus of a pair of channels
};

struct RotaryWaveOptions : ResampleOptions {
  Index reach = 64;  ///< offsets |t| <= reach are searched, in tokens
  bool causal = true;
  Index length = 0;  ///< T: some scalings make frequencies depend on it
  double score_scale = 1;
  Index draws = 1000;   ///< of the null: they cost next to nothing
  double level = 0.05;  ///< share of the heads with an offset that may be false
};

/// The wave that a rotary model has built in, where it points each head.
struct RotaryWave {
  HeadGrid grid;
  RotaryWaveOptions options;
  Index documents = 0;
  Vector frequency;         ///< (pairs)        theta_m, radians per token, of the first layer that turns
  Matrix layer_frequency;   ///< (layers, pairs)  of each layer, 0 without rotation; empty if all layers have the same
  MatrixC coefficient;      ///< (rows, pairs)  C_m
  Matrix use;               ///< (rows, pairs)  mean |q_m| times mean |k_m|, scaled
  Vector constant;          ///< (rows)         what channels that do not turn add at every offset
  Matrix kernel;            ///< (rows, 2 reach + 1)  kappa(t); NaN at t > 0 under a causal mask
  Vector estimate;          ///< (rows)  where kappa is largest, tokens; NaN: at the end of the search
  Vector offset;            ///< (rows)  the estimate if the agreement exceeds its null; NaN otherwise
  Vector weight;            ///< (rows)  softmax of kappa there, over the offsets searched
  Vector lower, upper;      ///< (rows)  ends of the interval of the estimate; NaN: too few documents
  Vector agreement;         ///< (rows)  of pairs that turn within the search; NaN: none does
  Vector p_value, q_value;  ///< (rows)  of the agreement; NaN: no null
  std::vector<PredictedStatus> status;  ///< (rows)
};

/// The rotary wave: the score of a head's mean query and mean key at every distance, after rotation.
///
/// Before rotation, as complex numbers, pair m of a head's channels gives Re conj(q_m) k_m e^{i theta_m (j -
/// i)} to the score. With means over tokens q^, k^:
///
///     C_m = scale conj(q^_m) k^_m,   kappa(t) = Re sum_m C_m e^{i theta_m t} + constant          (1)
///     t_m = -arg C_m / theta_m                                                                 (2)
///
/// so pair m asks for the offset t_m, modulo its period 2 pi / theta_m, with weight |C_m|: phase over
/// frequency is the offset, as in phase_delay(), with frequencies that are known. This is the part of the
/// position term of head_account() that comes from the rotation alone; positions that mean queries and keys
/// encode themselves are left out.
///
///     coherence = max_t kappa(t) / sum |C_m|                                                   (3)
///
/// A pair that turns by less than half a turn within the search can hardly tell offsets apart there: it gives
/// nearly the same to all, which the softmax does not see, or leans to one side. The agreement is (3) of the
/// other pairs alone, the maximum over t and the sum both: 1 where they all ask for one offset, whatever the
/// slow pairs add. Its null: phases of C_m drawn at random, which keeps the weight of every pair; p = (1 +
/// draws that agree as much) / (1 + draws). A few pairs agree easily by chance, so with a small d_head the
/// test has little power.
///
/// `use` is how much a head uses a pair at all: the mean modulus of its queries times that of its keys,
/// whatever their phases.
///
/// Source: this project; rotation after Su et al. 2021, use of frequencies after Barbero et al. 2025.
/// @param documents  at least one
/// @param terms      of each layer of the grid, that turn equally many channels; null: the layer turns nothing, and nothing
///                   is said of its heads
/// @throws ShapeError if there is no document, or there are not as many terms as layers, one of them not null
RotaryWave rotary_wave(const std::vector<DocumentRotary>& documents, const HeadGrid& grid,
                       const std::vector<const RotaryTerm*>& terms, const RotaryWaveOptions& options = {});

/// Fields rotary_wave/...
std::vector<Field> describe(const RotaryWave& wave);

}  // namespace headwave
