#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "../attention/document.h"
#include "../fields/head_name.h"
#include "model.h"
#include "source.h"

namespace headwave {

/// A copy of a model whose weights are being changed, for building interventions. It shares all unchanged
/// weights with the original model and owns the new weights.
class ChangedModel {
 public:
  explicit ChangedModel(const Model& before);

  /// The stack that has a kind of attention. In a model with one stack it is always that stack.
  [[nodiscard]] Stack& stack_of(AttentionKind kind);
  /// The projections of a kind of attention in one layer.
  /// @throws ShapeError as require_in_memory()
  [[nodiscard]] AttentionWeights& attention_of(AttentionKind kind, Index layer);

  template <class Change>
  void change_stacks(const Change& change) {
    change(model_.stack);
    if (model_.decoder) change(*model_.decoder);
  }

  /// Keeps new weights for as long as the model lives.
  MatrixView32 kept(Matrix32 weights);
  VectorView32 kept(Vector32 weights);

  /// Hands over the changed model; nothing can be changed afterwards.
  [[nodiscard]] Model taken();

 private:
  /// Owns the memory behind the views: the original and the new weights. A deque never moves its elements.
  struct Storage {
    std::shared_ptr<const void> before;
    std::deque<Vector32> vectors;
    std::deque<Matrix32> matrices;
  };

  Model model_;
  std::shared_ptr<Storage> storage_;
};

/// @throws ShapeError if the stack's weights are read layer by layer, since changes would be lost
void require_in_memory(const Stack& stack);

/// @throws ShapeError naming the head if the stack does not have this head
void require_head(const Stack& stack, const HeadName& head);

/// Interventions remove or change a part of what a head reads, to show what the head depends on. A changed
/// model shares all unchanged weights with the original model and can be analysed in the same way.

/// The model without positions: its position table is zero, and its position terms and query temperatures are
/// removed. Norms, token types and words stay.
///
/// Source: Yamamoto and Matsuzaki 2023 ("words only").
Model words_only(const Model& model);

/// The model without words: the word embeddings are zero. Norms and token types stay, so a layer reads
/// norm(position + token type 0), not the position table itself.
///
/// Source: Yamamoto and Matsuzaki 2023 ("positions only").
/// @throws ShapeError if a stack has no position table. A position term is not enough: inputs would be 0
Model positions_only(const Model& model);

/// Ablation: the given heads add nothing to the residual stream. Their attention is still computed.
///
///     W_O[rows of head h, :] = 0                                                             (1)
///
/// Source: Michel, Levy and Neubig 2019; Voita et al. 2019.
/// @param kind  which attention of an encoder-decoder; ignored in other models
/// @throws ShapeError naming a head that the model does not have
Model without_heads(const Model& model, const std::vector<HeadName>& heads, AttentionKind kind = AttentionKind::self);

/// The model that reads every token as if it stood u tokens further on: row n of its position table is
///
///     P'[n] = P[n + u]                                                                        (2)
///
/// If there is no row n + u, the first or the last row is used. Untrained rows (layer_positions.h) never
/// replace trained rows. All heads of all layers see the same shift.
///
/// Source: this project.
/// @param u     tokens, either sign; 0: the model as it is
/// @param kind  in an encoder-decoder, self moves the encoder's text and causal moves the decoder's text
/// @throws ShapeError if there is no position table
Model moved_text(const Model& model, Index u, AttentionKind kind = AttentionKind::self);

/// Documents with their words in random order. Special tokens keep their places; targets are not shuffled.
///
/// Each document occurs `shuffles` times in a row, so a job that averages over documents also averages over
/// shuffles. An order depends only on the seed and the document's number in the new source.
///
/// Source: Yamamoto and Matsuzaki 2023 ("shuffled words").
/// @throws ShapeError if shuffles < 1. The source's document() throws ShapeError if a document has no ids
std::unique_ptr<Source> shuffled_words(std::unique_ptr<Source> source, std::uint64_t seed, Index shuffles = 1);

/// The queries of one document after the queries of some heads were rotated by u tokens. The offset at which
/// such a head looks moves by -u.
///
///     q_m' = q_m e^{-i theta_m u},  m = 0 .. r/2 - 1                                          (3)
///     score'(t) = Re sum_m conj(q_m) k_m e^{i theta_m (t + u)} + channels that do not rotate  (4)
///
/// With t = j - i, (4) is the score that the same query and key would have at offset t + u. Rotating the
/// head's keys by e^{i theta_m u} would give the same scores. Queries are rotated since heads may share keys.
///
/// Source: this project; rotation after Su et al. 2021, equation 34.
/// @param query   (T, heads * d_head)  projected, with their norm if the model has one, not yet rotated
/// @param heads   heads whose queries are rotated; names no head twice
/// @param u       tokens, either sign; 0: no change
/// @param d_head  channels of a head
/// @throws ShapeError if a head does not exist, or the rotation needs more channels than a head has
Matrix32 turned_queries(MatrixView32 query, const std::vector<Index>& heads, Index u, const RotaryTerm& rotation,
                        Index d_head);

}  // namespace headwave
