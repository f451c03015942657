#pragma once

#include <vector>

#include "../attention/document.h"
#include "../fields/head_name.h"
#include "model.h"

namespace headwave {

class RotaryTerm;

/// Interventions (intervention.h) on the rotary wave: what a head sees of distance, moved and taken away. Both change
/// queries alone: heads may share a key head (grouped-query attention), but never a query.

/// The model with heads turned by u tokens: what such a head sees moves by -u, whatever stands there.
///
///     q_m' = q_m e^{-i theta_m u},  m = 0 .. r/2 - 1                                          (1)
///     score'(t) = Re sum_m conj(q_m) k_m e^{i theta_m (t + u)} + channels that do not turn    (2)
///
/// with t = j - i: the score that the same query and key would have u tokens further on. That is the turn of the head's
/// key by e^{i theta_m u}, made on the other side. Since turns commute with the one that attention makes, (1) stands in
/// W_Q and b_Q, and (2) is exact but for rounding to float32. Unlike re_aimed(), nothing is fitted and no position
/// table is needed.
///
/// Source: this project; rotation after Su et al. 2021, equation 34.
/// @param u     tokens, either sign
/// @param kind  which attention of an encoder-decoder; of any other model its only one
/// @throws ShapeError if that attention has no rotary positions, in the heads' layers or at all, or turns more channels
///         than a head has, queries are normalised, u is 0, a head is not there or named twice, or the rotation is scaled by the length of the text (dynamic): then no one turn
///         is a shift by u in all of them
Model turned(const Model& model, const std::vector<HeadName>& heads, Index u, AttentionKind kind = AttentionKind::self);

/// The same turn (1), of the queries of one document: of queries that are normalised after W_Q, too, and
/// under dynamic scaling, since the length is known.
///
/// @param query   (T, heads * d_head)  as projected, and normalised where the model does so, before attention
///          turns them
/// @param heads   of those, each once
/// @param u       tokens, either sign; 0: as they are
/// @param d_head  channels of a head
/// @throws ShapeError if a head is not there, or the rotation turns more channels than a head has
Matrix32 turned_queries(MatrixView32 query, const std::vector<Index>& heads, Index u, const RotaryTerm& rotation,
                        Index d_head);

/// Ablation of rotary frequencies: the model whose queries are zero in channel pairs first .. last, in all heads of all
/// layers, so that these say nothing. Pair 0 is the fastest; pair m turns by base^(-2m/r) radians a token, as scaled.
///
/// What such a pair says without regard to distance is gone too: a pair that hardly turns within a text carries words.
///
/// Source: this project; the use of frequencies after Barbero et al. 2025.
/// @throws ShapeError if the model has no rotary positions or turns more channels than a head has, or the pairs lie
///         outside 0 .. r/2 - 1
Model without_pairs(const Model& model, Index first, Index last);

}  // namespace headwave
