#include "model.h"

#include "../attention/rotary_term.h"

namespace headwave {

const RotaryTerm* Stack::rotary() const {
  return dynamic_cast<const RotaryTerm*>(position_term.get());
}

std::vector<AttentionKind> Model::kinds() const {
  if (decoder) return {AttentionKind::self, AttentionKind::causal, AttentionKind::cross};
  return {stack.block.causal ? AttentionKind::causal : AttentionKind::self};
}

const Stack& Model::stack_of(AttentionKind kind) const {
  return decoder && kind != AttentionKind::self ? *decoder : stack;
}

}  // namespace headwave
