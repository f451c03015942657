#pragma once

#include <array>
#include <string_view>

namespace headwave {

/// A quantity of a group that older files call otherwise.
struct OldQuantity {
  std::string_view group, old, now;
};

inline constexpr std::array old_quantities{OldQuantity{"position_atlas", "offset", "predicted_offset"},
                                           OldQuantity{"position_atlas", "weight", "predicted_weight"},
                                           OldQuantity{"word_atlas", "offset", "predicted_offset"},
                                           OldQuantity{"word_atlas", "weight", "predicted_weight"},
                                           OldQuantity{"phase_delay", "offset", "predicted_offset"},
                                           OldQuantity{"delay_spectrum", "offset", "predicted_offset"}};

/// What older files call the axis `offset`.
inline constexpr auto old_offset_axes =
    std::to_array<std::string_view>({"account_offset", "kernel_offset", "rotary_offset", "argmax_offset",
                                     "window_offset", "carried_offset", "norm_lag", "lag"});

/// What older files call `context` on the axes and in the verdicts of head_account.
inline constexpr std::string_view old_context = "order";

}  // namespace headwave
