#pragma once

#include <cstdint>
#include <vector>

#include "../../core/fields/field.h"
#include "../../core/fields/head_name.h"
#include "../../core/model/model.h"

namespace headwave {

struct PaperPhasesOptions {
  Index length = 0;       ///< T, the first so many positions; 0: those that were trained (layer_positions.h)
  Index bins = 64;        ///< of theta
  Index completions = 3;  ///< random completions of the bases, at least 2: their difference is the point
  std::uint64_t seed = 1;
  int threads = 1;  ///< over completions; changes no digit
};

/// Paper mode: the published g(f, theta) of some heads from the whole R = U_Q^T U_K (d_model x d_model), on the
/// positions as their layer sees them (core/model/layer_positions.h).
///
///     spread = mean over pairs a, b of completions of 1/2 sum |g_a / sum g_a - g_b / sum g_b|  (1)
///
/// W_Q W_K^T has rank d_head or less; the other columns of U_Q and U_K are arbitrary, and R's eigenvalues
/// with them. A spread of 0 would say that the picture is the head's alone, 1 that it is the completion's
/// alone. O(d_model^3) a head and completion: some seconds at d_model = 768.
///
/// Source: Yamamoto and Matsuzaki 2023, section 3.4, for g and R; (1) is this project's.
/// @returns Fields paper_phases/spread (paper_head) and paper_phases/spectrum (paper_head, completion, frequency, phase);
///          only the first, undefined with the reason, of a model without a position table
/// @throws ShapeError if a head is not there, the table is shorter than asked, or completions < 2
std::vector<Field> paper_phases(const Stack& stack, const std::vector<HeadName>& heads,
                                const PaperPhasesOptions& options = {});

}  // namespace headwave
