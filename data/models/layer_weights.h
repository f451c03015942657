#pragma once

#include "../../core/attention/block.h"
#include "tensor_reader.h"

namespace headwave {

/// What of a layer is read.
enum class LayerParts { all, queries_and_keys };

/// One layer of a stack. Nothing is copied, except where query, key and value lie fused head by head; what is
/// missing or has the wrong shape is a problem on the reader's list.
Block layer_weights(TensorReader& reader, const StackMap& stack, Index layer, LayerParts parts = LayerParts::all);

}  // namespace headwave
