#include "model.h"

namespace headwave {

std::vector<AttentionKind> Model::kinds() const {
  if (decoder) return {AttentionKind::self, AttentionKind::causal, AttentionKind::cross};
  return {stack.block.causal ? AttentionKind::causal : AttentionKind::self};
}

const Stack& Model::stack_of(AttentionKind kind) const {
  return decoder && kind != AttentionKind::self ? *decoder : stack;
}

}  // namespace headwave
