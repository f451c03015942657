#pragma once

#include <memory>

#include "../../core/attention/block.h"
#include "../../core/model/model.h"
#include "../arrays/safetensors.h"
#include "model_map.h"
#include "tensor_reader.h"

namespace headwave {

/// Which weights of a layer are read.
enum class LayerParts { all, queries_and_keys };

/// The weights of one layer. Tensors that are missing or have the wrong shape are added to the reader's
/// problems.
Block layer_weights(TensorReader& reader, const StackMap& stack, Index layer, LayerParts parts = LayerParts::all);

/// The layers of a stack, read from a checkpoint when they are asked for. Tensors that need conversion are
/// converted each time, and pages of files are released with the layer.
std::shared_ptr<const LayerStore> layers_on_demand(std::shared_ptr<const Checkpoint> checkpoint, const StackMap& map);

}  // namespace headwave
