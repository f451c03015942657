#pragma once

#include <deque>
#include <memory>

#include "../attention/document.h"
#include "../fields/head_name.h"
#include "model.h"

namespace headwave {

/// A model about to differ from the one it was made from: it shares every weight but those that are changed, and keeps
/// what is new. What interventions are made with.
class ChangedModel {
 public:
  explicit ChangedModel(const Model& before);

  /// The stack in which a kind of attention happens; of a model that is no encoder-decoder its only one.
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
  /// What stands behind the views: the model before, and what is new. A deque does not move what it holds.
  struct Storage {
    std::shared_ptr<const void> before;
    std::deque<Vector32> vectors;
    std::deque<Matrix32> matrices;
  };

  Model model_;
  std::shared_ptr<Storage> storage_;
};

/// @throws ShapeError if weights of layers are read when they are needed: nobody would see them changed
void require_in_memory(const Stack& stack);

/// @param who  the intervention that asks
/// @throws ShapeError naming the head that the stack does not have
void require_head(const Stack& stack, const HeadName& head, const char* who);

}  // namespace headwave
