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

/// Interventions: part of what a head reads is taken away or changed, to see what it depends on. Each
/// function returns another model, which shares all unchanged weights with the first, so that every analysis
/// can run on it.

/// The model without positions: its position table is zero and its position terms are removed. Norms, token
/// types and words stay.
///
/// Source: Yamamoto and Matsuzaki 2023 ("words only").
Model words_only(const Model& model);

/// The model without words: the word embeddings that the stack reads are zero. Norms and token types stay, so a layer
/// reads norm(position + token type 0), not the position table itself.
///
/// Source: Yamamoto and Matsuzaki 2023 ("positions only").
/// @throws ShapeError if a stack has no position table, whatever its position term: without words its input
///         would be zero
Model positions_only(const Model& model);

/// Ablation of heads: the model whose pruned heads add nothing to the residual stream. Their attention can
/// still be seen.
///
///     W_O[rows of head h, :] = 0                                                             (1)
///
/// Source: Michel, Levy and Neubig 2019; Voita et al. 2019.
/// @param kind  which attention of an encoder-decoder; of any other model its only one
/// @throws ShapeError naming a head that the model does not have
Model without_heads(const Model& model, const std::vector<HeadName>& heads, AttentionKind kind = AttentionKind::self);

/// The model that reads every token as if it stood u tokens further on: row n of its position table is
///
///     P'[n] = P[n + u]                                                                        (2)
///
/// or the first or last row where there is no such row; trained rows are never replaced by untrained ones
/// (layer_positions.h). All heads of all layers see the same shift.
///
/// Source: this project.
/// @param u     tokens, either sign; 0: the model as it is
/// @param kind  of an encoder-decoder: self moves the text that it reads, causal the one that it writes
/// @throws ShapeError if there is no position table
Model moved_text(const Model& model, Index u, AttentionKind kind = AttentionKind::self);

/// Documents with their words in random order. Special tokens keep their places.
///
/// Document i of the source comes `shuffles` times in a row. Each order depends on the seed, i and the number
/// of the shuffle alone. A job that averages over documents so averages over shuffles.
///
/// Source: Yamamoto and Matsuzaki 2023 ("shuffled words").
/// @throws ShapeError if shuffles < 1; a document throws it if it has no ids
std::unique_ptr<Source> shuffled_words(std::unique_ptr<Source> source, std::uint64_t seed, Index shuffles = 1);

/// The queries of one document, those of some heads rotated by u tokens: the offset at which such a head looks moves by
/// -u.
///
///     q_m' = q_m e^{-i theta_m u},  m = 0 .. r/2 - 1                                          (3)
///     score'(t) = Re sum_m conj(q_m) k_m e^{i theta_m (t + u)} + channels that do not turn    (4)
///
/// with t = j - i: the score that the same query and key would have u tokens further on. This equals turning the head's
/// key by e^{i theta_m u}; queries are turned, since heads may share a key head but never a query.
///
/// Source: this project; rotation after Su et al. 2021, equation 34.
/// @param query   (T, heads * d_head)  as projected, and normalised where the model does so, before attention
///          turns them
/// @param heads   of those, each once
/// @param u       tokens, either sign; 0: as they are
/// @param d_head  channels of a head
/// @throws ShapeError if a head is not there, or the rotation turns more channels than a head has
Matrix32 turned_queries(MatrixView32 query, const std::vector<Index>& heads, Index u, const RotaryTerm& rotation,
                        Index d_head);

}  // namespace headwave
