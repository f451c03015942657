#pragma once

#include "sample_result.h"

namespace headwave::sample {

/// Adds what figures of phases, delays, their agreement with what is measured, split states and head types draw:
/// phase_spectrum, phase_delay, position_split, head_types. Waves of
/// every head lie on the ridge of its planted offset; formulas again, no chance.
void add_phases(Result& result, const Size& size);

}  // namespace headwave::sample
