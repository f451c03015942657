#pragma once

#include "sample_result.h"

namespace headwave::sample {

/// What offset_by_query describes, of heads of which the second of each layer looks 12 tokens on, by position, from the
/// first of two bands of queries, and the third without; nobody else looks beyond the reach of 4.
void add_bands(Result& result, const Size& size);

}  // namespace headwave::sample
