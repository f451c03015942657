#pragma once

#include <functional>

#include "model_config.h"
#include "model_directory.h"

namespace headwave {

/// Of a model type that is not known, the known family that comes nearest: it reads the config without complaint and half of
/// the tensors, and of those that do, its map leaves the fewest problems in the checkpoint. Its map is a proposal where it
/// would compute the same: more than half of what it looks for is there, nothing in the config, in the tensors or known of
/// the model type says otherwise (config_arithmetic.h).
///
/// @param config   of a family that is not known
/// @param checked  lays a map over the checkpoint
/// @throws FormatError where nothing is proposed: which family comes nearest, by the names of its tensors alone where no map
///         fits and half of these names are there (name_likeness.h), what stands in its way, and which keys may change the
///         numbers and are not read
ModelCheck nearest_family(const ModelConfig& config, const Checkpoint& checkpoint,
                          const std::function<ModelCheck(ModelMap)>& checked);

}  // namespace headwave
