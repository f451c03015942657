#include "changed_model.h"

#include <utility>

#include <fmt/format.h>

namespace headwave {

ChangedModel::ChangedModel(const Model& before) : model_(before), storage_(std::make_shared<Storage>()) {
  storage_->before = before.storage;
}

Stack& ChangedModel::stack_of(AttentionKind kind) {
  return !model_.decoder || kind == AttentionKind::self ? model_.stack : *model_.decoder;
}

AttentionWeights& ChangedModel::attention_of(AttentionKind kind, Index layer) {
  require_in_memory(stack_of(kind));
  Block& block = stack_of(kind).blocks[static_cast<std::size_t>(layer)];
  return model_.decoder && kind == AttentionKind::cross ? block.cross : block.self;
}

MatrixView32 ChangedModel::kept(Matrix32 weights) {
  return storage_->matrices.emplace_back(std::move(weights));
}

VectorView32 ChangedModel::kept(Vector32 weights) {
  return storage_->vectors.emplace_back(std::move(weights));
}

Model ChangedModel::taken() {
  model_.storage = std::move(storage_);
  return std::move(model_);
}

void require_in_memory(const Stack& stack) {
  if (stack.store)
    throw ShapeError("weights that are read layer by layer cannot be changed",
                     give("weights", "memory", "if they fit there"));
}

void require_head(const Stack& stack, const HeadName& head) {
  if (head.layer < 0 || head.layer >= stack.layers() || head.head < 0 || head.head >= stack.block.heads)
    throw ShapeError(fmt::format("there is no {}; the model has {} layers of {} heads",
                                 head_name(head.layer, head.head), stack.layers(), stack.block.heads));
}

}  // namespace headwave
