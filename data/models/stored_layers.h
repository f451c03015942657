#pragma once

#include <memory>

#include "../../core/model/model.h"
#include "../arrays/safetensors.h"
#include "model_map.h"

namespace headwave {

/// The layers of a stack as they lie in a checkpoint, read when they are asked for. Whatever has to be
/// converted is converted anew each time, and pages of files are let go when a layer is.
std::shared_ptr<const LayerStore> stored_layers(std::shared_ptr<const Checkpoint> checkpoint, const StackMap& map);

}  // namespace headwave
