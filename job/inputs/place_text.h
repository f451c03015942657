#pragma once

#include <optional>
#include <string_view>

#include "../../data/models/model_directory.h"

namespace headwave {

/// How many layers "0-7" is, the first ones: 8. "0:7" is the same, "0" the first alone.
/// @returns nothing where it is no such range, or longer than a model can be
std::optional<Index> first_layers(std::string_view range);

/// Where "auto", "memory" or "layers" says that weights are.
/// @returns nothing of any other word
std::optional<WeightsIn> weights_in(std::string_view word);

/// What is expected of a range of first layers.
inline constexpr auto expected_first_layers =
    "0-N, the first layers up to layer N: a layer reads what those before it made, so all of them are computed";

}  // namespace headwave
