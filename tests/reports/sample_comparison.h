#pragma once

#include "sample_result.h"

namespace headwave::sample {

/// Adds what two results differ in: offset, a weight with an interval, entropy without one. Head L0H1 alone is beyond its
/// interval, L0H2 undefined in the second result; formulas again, no chance.
void add_comparison(Result& result, const Size& size);

/// A result that holds a comparison and nothing else, as `headwave compare --out` writes it.
Result comparison_result(const Size& size = {});

}  // namespace headwave::sample
