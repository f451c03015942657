#pragma once

#include "sample_result.h"

namespace headwave::sample {

/// What head_account and rotary_wave describe, of heads that look where their planted offset is.
void add_account(Result& result, const Size& size);

}  // namespace headwave::sample
