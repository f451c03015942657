#pragma once

#include <cstdint>
#include <vector>

#include "../../core/attention/document.h"
#include "../../core/numbers/matrix.h"
#include "../pass/analysis.h"

namespace headwave {

/// Scores of every head. A score is a mean over the queries of a document, then over documents. It is NaN if
/// no document defines it.
///
///     argmax_share[t] = share of queries i whose largest weight A[i, j] is at j - i = t            (1)
///     positional_share = max_t argmax_share[t],  |t| <= reach                                       (2)
///     alpha_k = 1/(T-k) sum_{i>=k} A[i, k] under a causal mask, 1/T sum_i A[i, k] without            (3)
///
/// In (1), the smaller |t| wins a tie, then the left offset. The largest alpha of (3) is searched only among
/// keys whose mean is over at least a quarter of the queries.
///
/// Duplicate and induction scores count only keys before the query. A query counts even if a window hides
/// these keys from it. The baseline respects the mask and the window. On repeated random tokens, the
/// induction score is the mean weight on the token that followed the current token in the previous copy.
///
/// The names are those of the authors below. They describe where attention lies, not why; head_account() says
/// why. On ordinary text an induction head may be called a sink, since most of its queries have nothing to
/// copy. Under a causal mask, even uniform attention gives much weight to the first key of a short document,
/// so a sink must also exceed its baseline. In cross-attention, scores that compare positions or tokens are
/// undefined. Voita et al. call `one offset` "positional".
///
/// Source: Voita et al. 2019 (1, 2); Clark et al. 2019 (previous, next); Olsson et al. 2022 (induction);
/// Gu et al. 2025 (3), there 1-based.
enum class HeadScore : std::uint8_t {
  previous,            ///< mean of A[i, i-1] over i >= 1: the score of a previous-token head
  next,                ///< mean of A[i, i+1] over i < T-1; undefined under a causal mask
  duplicate,           ///< weight on earlier keys with the query's token id, over queries that have such keys
  duplicate_baseline,  ///< `duplicate` if all allowed keys shared equally the attention that a learned sink leaves
  induction,  ///< weight on earlier keys whose preceding token has the query's id, over queries that have such keys
  induction_baseline,  ///< `induction` in that case
  entropy,             ///< -sum_j A ln A, in nats; if there is a learned sink, A / sum_j A takes the place of A
  entropy_share,       ///< entropy / ln(allowed keys), over queries with at least two; 1: uniform attention
  sink_first,          ///< alpha_0 of equation (3)
  sink_weight,         ///< max_k alpha_k
  special_weight,      ///< weight on special tokens
  learned_sink,        ///< 1 - sum_j A, the weight of a learned sink; undefined for heads without one
  previous_baseline,   ///< `previous` if all allowed keys had the same weight
  next_baseline,       ///< `next` in the same case
  sink_baseline,       ///< `sink_weight` in the same case
};
constexpr Index head_scores = 12, even_scores = 3;  ///< numbers of measured scores and of baselines, which follow them

/// previous_baseline, next_baseline and sink_baseline of one document, under the mask of allowed_keys().
/// @returns (even_scores)  NaN where the score itself is undefined
Vector even_attention(Index queries, Index keys, AttentionKind kind, Index window, Index chunk = 0);

struct HeadTypeSum {
  Index documents = 0;
  DefinedMean scores;                       ///< (head_scores + even_scores, rows)
  DefinedMean argmax_share;                 ///< (rows, 2 reach + 1)
  First<std::vector<Index>> sink_position;  ///< (rows)
};

/// In a job it gives Fields head_types/...
extern const AnalysisKind head_types_analysis;

}  // namespace headwave
