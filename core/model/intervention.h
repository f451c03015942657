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

class RotaryTerm;

/// Interventions: part of what a head reads is taken away or changed, to see what it depends on. Each
/// function returns another model, which shares all unchanged weights with the first, so that every analysis
/// can run on it.

/// The model without positions: its position table is zero and its position terms are removed. Norms, token
/// types and words stay.
///
/// Source: Yamamoto and Matsuzaki 2023 ("words only").
Model words_only(const Model& model);

/// The model without words: the word embeddings that the stack reads are zero; a prediction head keeps its
/// own. Norms and token types stay, so a layer reads norm(position + token type 0), not the position table
/// itself.
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

/// Ablation of a frequency band: the model with a band of frequencies taken out of its position table.
///
/// Frequencies are counted per T tokens, as in the spectra of documents of T tokens. In a table of R rows
/// every column loses its components of k cycles per R with
///
///     first - 1/2 <= k T / R < last + 1/2                                                      (2)
///
/// which of T = R are first .. last; k = 0 is the column's mean.
///
/// @param length  T, tokens; 0: the rows of the table
/// @throws ShapeError if the model has no position table, it has fewer than T rows, or the band lies outside
///         0 .. T/2
Model without_band(const Model& model, Index first, Index last, Index length = 0);

/// The model with the keys of heads re-aimed by u tokens: position n gets the key of position n + u.
///
///     W_K' = T_u W_K,  T_u = pinv(P[0 .. T-u-1]) P[u .. T-1]                                   (3)
///
/// with P the positions as the layer sees them (layer_positions.h): if position is what a head reads, its
/// offset moves by -u. Singular values of P below float32's resolution are left out of the inverse; T_u (d x
/// d) is never formed. The keys' bias stays.
///
/// Source: this project; the shift of positions after Yamamoto and Matsuzaki 2023.
/// @param u  tokens, either sign, less than the positions there are
/// @throws ShapeError if the model has no position table, u is 0 or too large, or a head is not there
Model re_aimed(const Model& model, const std::vector<HeadName>& heads, Index u);

/// The model that reads every token as if it stood u tokens further on: row n of its position table is
///
///     P'[n] = P[n + u]                                                                        (4)
///
/// or the first or last row where there is no such row; trained rows are never replaced by untrained ones
/// (layer_positions.h). Unlike re_aimed(), nothing is fitted, and all heads of all layers see the same shift.
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

/// Interventions on rotary positions change queries alone, since heads may share a key head (grouped-query
/// attention) but never a query.

/// The model with the queries of some heads rotated by u tokens: the offset at which such a head looks moves
/// by -u.
///
///     q_m' = q_m e^{-i theta_m u},  m = 0 .. r/2 - 1                                          (5)
///     score'(t) = Re sum_m conj(q_m) k_m e^{i theta_m (t + u)} + channels that do not turn    (6)
///
/// with t = j - i: the score that the same query and key would have u tokens further on. This equals turning
/// the head's key by e^{i theta_m u}. Since turns commute with the one that attention makes, (5) stands in
/// W_Q and b_Q, and (6) is exact but for rounding to float32. Unlike re_aimed(), nothing is fitted and no
/// position table is needed.
///
/// Source: this project; rotation after Su et al. 2021, equation 34.
/// @param u     tokens, either sign
/// @param kind  which attention of an encoder-decoder; of any other model its only one
/// @throws ShapeError if that attention has no rotary positions, in the heads' layers or at all, or turns
///         more channels than a head has, queries are normalised, u is 0, a head is not there or named twice,
///         or the rotation is scaled by the length of the text (dynamic): then no one turn is a shift by u in
///         all of them
Model turned(const Model& model, const std::vector<HeadName>& heads, Index u, AttentionKind kind = AttentionKind::self);

/// The rotation (5) of the queries of one document. Unlike turned(), this works for queries that are
/// normalised after W_Q, and under dynamic scaling, since the length of the text is known.
///
/// @param query   (T, heads * d_head)  as projected, and normalised where the model does so, before attention
///          turns them
/// @param heads   of those, each once
/// @param u       tokens, either sign; 0: as they are
/// @param d_head  channels of a head
/// @throws ShapeError if a head is not there, or the rotation turns more channels than a head has
Matrix32 turned_queries(MatrixView32 query, const std::vector<Index>& heads, Index u, const RotaryTerm& rotation,
                        Index d_head);

/// Ablation of rotary frequencies: the model whose queries are zero in channel pairs first .. last, in all
/// heads of all layers. Pair 0 is the fastest; pair m turns by base^(-2m/r) radians per token, before
/// scaling.
///
/// This also removes what such a pair says about words: a pair that hardly turns within a text carries
/// content.
///
/// Source: this project; the use of frequencies after Barbero et al. 2025.
/// @throws ShapeError if the model has no rotary positions or turns more channels than a head has, or the
///         pairs lie outside 0 .. r/2 - 1
Model without_pairs(const Model& model, Index first, Index last);

struct MeanKeysOptions {
  AttentionKind kind = AttentionKind::self;  ///< which attention of an encoder-decoder; of any other model its only one
  int threads = 0;                           ///< 0: one per core; changes no digit
};

/// The model whose heads see the positions of keys, but not their content.
///
///     k_n' = mean over documents of k_n,   n = 0 .. T - 1                                     (7)
///
/// k_n is the key at position n with its bias, as projected by the model as it is, before any rotation; T the
/// length of the longest document. Position terms and rotations still act on it. What remains of a head is
/// what its queries make of positions: a head that reads positions alone does not change, a head that reads
/// words spreads its attention. Values stay each document's own.
///
/// At a position that only N documents reach, the mean is over these N, so it contains a share 1 / N of each
/// document's own key. All means are computed in one pass of the model before any key is replaced. Weights stay
/// as trained: analyses of weights alone do not change.
///
/// Source: this project; mean ablation after Wang et al. 2023.
/// @param documents  two or more; the changed model refuses, by name, a document longer than all of these
/// @param heads      with every head that reads the same key head (grouped-query attention)
/// @throws ShapeError naming a head that is not there, or those that share its keys and are not named; if
///         there are fewer than two documents, or none that shows a head's keys
Model mean_keys(const Model& model, const Source& documents, const std::vector<HeadName>& heads,
                const MeanKeysOptions& options = {});

}  // namespace headwave
