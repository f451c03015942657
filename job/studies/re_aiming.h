#pragma once

#include <vector>

#include "../../core/fields/head_name.h"
#include "../inputs/job_input.h"
#include "../run/job.h"

namespace headwave {

struct ReAimingOptions {
  std::vector<HeadName> heads;                            ///< empty: those with the clearest measured offsets
  Index most_heads = 8;                                   ///< how many of them
  std::vector<Index> shifts{-4, -3, -2, -1, 1, 2, 3, 4};  ///< u in tokens; 0 is always there
  Index reach = 64;                                       ///< offsets are searched at |t| <= reach, in tokens
  double level = 0.01;  ///< chance that a head without a preference is given an offset
  int threads = 0;      ///< 0: one per core; changes no digit
};

/// How far attention moves when keys are re-aimed: the causal test of the wave. S = shifts, 0 among them,
/// ascending.
struct ReAiming {
  std::vector<HeadName> heads;
  std::vector<Index> shifts;
  Matrix offset;    ///< (heads, S)  measured offset in the re-aimed model, tokens; 0: at itself; NaN: undefined
  Matrix weight;    ///< (heads, S)  mean weight at that offset
  Matrix followed;  ///< (heads, S)  mean weight at t* - u, over that at t* in the model as it is; NaN: beyond the reach
  Vector follows;   ///< (heads)  share of the shifts u != 0 that move the offset by exactly -u
  Vector slope;     ///< (heads)  least squares of the moved offset on u: -1 where position is all that a head reads
  Vector fitted;  ///< (heads)  shifts u != 0 that the slope is fitted to: what lands elsewhere, on an alias say, is not
};

/// Re-aims one layer's heads after another, W_K' = T_u W_K (core/model/intervention.h), and measures where
/// they look in the running model.
///
/// Heads of a layer are re-aimed together, since none reads what another writes; layers after it are not run.
/// A head whose t* lies at u = t* lands on itself, offset 0. What follows only in part is drawn by words as
/// well.
///
/// @throws ShapeError if the model has no position table, is an encoder-decoder, or a head is not there;
///         Error as run_job()
ReAiming re_aiming(const Model& model, const Source& source, const ReAimingOptions& options = {},
                   const ProgressCallback& progress = {});

/// -furthest .. furthest without 0.
std::vector<Index> shifts_to(Index furthest);

/// Fields re_aiming/... (re_aimed_head, shift).
std::vector<Field> describe(const ReAiming& re_aiming);

/// The same as a Result.
/// @param seed  of the input's documents and interventions
Result result_of(const ReAiming& re_aiming, const JobInput& input, const ReAimingOptions& options, std::uint64_t seed);

}  // namespace headwave
