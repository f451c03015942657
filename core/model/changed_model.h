#pragma once

#include <deque>
#include <memory>

#include "../attention/document.h"
#include "../fields/head_name.h"
#include "model.h"

namespace headwave {

/// A copy of a model whose weights are being changed. It shares every unchanged weight with the first model
/// and owns the new ones. Interventions are built with it.
class ChangedModel {
 public:
  explicit ChangedModel(const Model& before);

  /// The stack that has a kind of attention; of a model with one stack, that one.
  [[nodiscard]] Stack& stack_of(AttentionKind kind);
  /// That attention's projections in one layer.
  /// @throws ShapeError as require_in_memory()
  [[nodiscard]] AttentionWeights& attention_of(AttentionKind kind, Index layer);

  /// Calls change(stack) for every stack.
  template <class Change>
  void change_stacks(const Change& change) {
    change(model_.stack);
    if (model_.decoder) change(*model_.decoder);
  }

  /// Keeps new weights for as long as the model lives.
  MatrixView32 kept(Matrix32 weights);
  VectorView32 kept(Vector32 weights);

  /// The changed model; nothing can be changed afterwards.
  [[nodiscard]] Model taken();

 private:
  /// Owns what the views look at: the first model's weights and the new ones. A deque does not move its
  /// elements.
  struct Storage {
    std::shared_ptr<const void> before;
    std::deque<Vector32> vectors;
    std::deque<Matrix32> matrices;
  };

  Model model_;
  std::shared_ptr<Storage> storage_;
};

/// @throws ShapeError if the stack's weights are read layer by layer, where a change would be lost
void require_in_memory(const Stack& stack);

/// @throws ShapeError naming the head that the stack does not have
void require_head(const Stack& stack, const HeadName& head);

}  // namespace headwave
