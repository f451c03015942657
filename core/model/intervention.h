#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "../fields/head_name.h"
#include "model.h"
#include "source.h"

namespace headwave {

/// Interventions: what carries a head, seen by what it does when part of what it reads is taken away (ablation). Each
/// gives another model, which shares all weights but those that were changed, so that every analysis can be run on it
/// as on any other. Those on rotary positions: rotary_intervention.h; keys replaced by their mean: mean_keys.h.

/// The model with every position the same: its position table is zero, its position terms are gone. Norms, token types
/// and words stay.
///
/// Source: Yamamoto and Matsuzaki 2023 ("words only").
Model words_only(const Model& model);

/// The model with every word the same: word embeddings are zero where the stack reads them; a head that predicts words
/// keeps its own. Norms still rescale and token types stay, so a layer reads norm(position + token type 0), not the
/// table itself.
///
/// Source: Yamamoto and Matsuzaki 2023 ("positions only").
/// @throws ShapeError if a stack has no position table, whatever its position term: without words its input would be zero
Model positions_only(const Model& model);

/// Ablation of heads: the model with heads pruned, so that what they would add to the residual stream is zero. Their
/// attention can still be seen.
///
///     W_O[rows of head h, :] = 0                                                             (1)
///
/// Source: Michel, Levy and Neubig 2019; Voita et al. 2019.
/// @param kind  which attention of an encoder-decoder; of any other model its only one
/// @throws ShapeError naming a head that the model does not have
Model without_heads(const Model& model, const std::vector<HeadName>& heads, AttentionKind kind = AttentionKind::self);

/// Ablation of a frequency band: the model with a band of frequencies taken out of its position table.
///
/// Frequencies are counted per T tokens, as in the spectra of documents of T tokens. In a table of R rows every column
/// loses its components of k cycles per R with
///
///     first - 1/2 <= k T / R < last + 1/2                                                      (2)
///
/// which of T = R are first .. last; k = 0 is the column's mean.
///
/// @param length  T, tokens; 0: the rows of the table
/// @throws ShapeError if the model has no position table, it has fewer than T rows, or the band lies outside 0 .. T/2
Model without_band(const Model& model, Index first, Index last, Index length = 0);

/// The model with the keys of heads re-aimed by u tokens: what stands at position n is keyed as what stands at n + u.
///
///     W_K' = T_u W_K,  T_u = pinv(P[0 .. T-u-1]) P[u .. T-1]                                   (3)
///
/// with P the positions as the layer sees them (layer_positions.h): if position is what a head reads, its offset moves
/// by -u. Singular values of P below float32's resolution are left out of the inverse; T_u (d x d) is never formed.
/// The keys' bias stays.
///
/// Source: this project; the shift of positions after Yamamoto and Matsuzaki 2023.
/// @param u  tokens, either sign, less than the positions there are
/// @throws ShapeError if the model has no position table, u is 0 or too large, or a head is not there
Model re_aimed(const Model& model, const std::vector<HeadName>& heads, Index u);

/// The model to which every token stands u tokens further on than it does: row n of its position table is
///
///     P'[n] = P[n + u]                                                                        (4)
///
/// or the first or last row where there is no such row; rows that were trained do not become those that were
/// not (trained_rows.h). Unlike re_aimed(), nothing is fitted, and every layer sees it; heads are not moved
/// against each other.
///
/// Source: this project.
/// @param u     tokens, either sign; 0: the model as it is
/// @param kind  of an encoder-decoder: self moves the text that it reads, causal the one that it writes
/// @throws ShapeError if there is no position table
Model moved_text(const Model& model, Index u, AttentionKind kind = AttentionKind::self);

/// Documents with their words in another order: positions stay, sense goes. Special tokens keep their places.
///
/// Document i of the source comes `shuffles` times in a row, each time in an order of its own that depends on the seed,
/// i and the shuffle alone; what a job averages over documents is so averaged over shuffles.
///
/// Source: Yamamoto and Matsuzaki 2023 ("shuffled words").
/// @throws ShapeError if shuffles < 1; a document throws it if it has no ids
std::unique_ptr<Source> shuffled_words(std::unique_ptr<Source> source, std::uint64_t seed, Index shuffles = 1);

}  // namespace headwave
