#pragma once

#include "state_moments.h"

namespace headwave {

/// One layer's hidden states in parts, balanced over documents c and positions t: x_ct = mean + pos_t + ctx_c + res_ct.
/// What is left of a part by rounding alone is zero.
struct StateParts {
  Matrix mean;      ///< (1, d_model)
  Matrix position;  ///< (T, d_model)  pos
  Matrix context;   ///< (D, d_model)  ctx
  Matrix residual;  ///< (d_model, d_model)  sum of res^T res over all tokens
};

/// With one document or one position the parts are exact: nothing is left as a residual.
///
/// Source: as analysis/positions/position_split.h.
/// @throws NumericError if the moments are not finite
StateParts state_parts(const StateMoments& layer);

}  // namespace headwave
