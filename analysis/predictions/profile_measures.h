#pragma once

#include "../../core/numbers/matrix.h"

namespace headwave {

// How strong an offset profile is, and how well another profile gives it. A profile is a mean attention
// weight p(t) for every offset t = -reach .. reach. An offset at which one of the profiles is NaN (no pair,
// or masked) is skipped.

/// Mass that a head draws to some offsets beyond what uniform attention u gives them:
///
///     strength = sum_t max(p(t) - a u(t), 0),  a = min(1, sum_t p(t) / sum_t u(t))             (1)
///
/// a lowers u where a sink, or what lies beyond the reach, takes mass away from all offsets alike. 0: nothing
/// stands out; near 1: one offset gets all attention.
double profile_strength(Eigen::Ref<const Vector> profile, Eigen::Ref<const Vector> uniform);

/// Share of the mass that makes p differ from uniform attention u which a predicted profile p^ gives:
///
///     overlap = 1 - sum_t |p - p^| / sum_t |p - u|                                             (2)
///
/// 1: every weight is right. 0: no better than uniform attention. Below 0: worse. Tails of 1e-5 hardly count.
/// @returns NaN where p is uniform
double profile_overlap(Eigen::Ref<const Vector> measured, Eigen::Ref<const Vector> predicted,
                       Eigen::Ref<const Vector> uniform);

/// Share of the logarithms' variation over offsets that a predicted profile p^ gives:
///
///     1 - sum_t (log p^ - log p)^2 / sum_t (log p - mean log p)^2                              (3)
///
/// over the offsets at which both are positive. Nothing is fitted. 1: every weight is right. 0: no better
/// than one weight for all offsets. Below 0: worse.
/// @param centred  subtract the mean of log p^ - log p first: compares the shapes of the profiles, not their
///         levels
/// @returns NaN where fewer than three offsets are left, or p is the same everywhere
double explained_share(Eigen::Ref<const Vector> measured, Eigen::Ref<const Vector> predicted, bool centred);

}  // namespace headwave
